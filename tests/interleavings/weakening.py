"""Takes the guard of a statement apart: every way to leave out one of its conditions.

It reads the statements' own text: each condition of a WHERE, of a join and of the decision's CASE, at any depth, each
lock, each SKIP LOCKED and each MATERIALIZED. A condition that somebody adds tomorrow is taken out tomorrow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r"'(?:[^']|'')*'|%\(\w+\)s|\w+|[()]|\S")
_CLAUSE_ENDS = frozenset(
    ["RETURNING", "ORDER", "LIMIT", "GROUP", "UNION", "WINDOW", "ON", "DO", "FOR", "JOIN", "LEFT", "WHERE", "FROM"]
)
_LOCK = re.compile(r"\s+FOR (?:NO KEY UPDATE|KEY SHARE|UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?")
_ARM = re.compile(r"\s+WHEN ((?:(?!\bTHEN\b).)+?) THEN '(\w+)'")


@dataclass(frozen=True, slots=True)
class Weakened:
    """A statement with one condition left out."""

    statement: str
    left_out: str
    text: str

    def __str__(self) -> str:
        return f"{self.statement} without {self.left_out}"


@dataclass(frozen=True, slots=True)
class _Token:
    word: str
    start: int
    end: int
    depth: int


Cut = tuple[int, int, str]
"""What to replace, from where to where, and by what."""


def weakenings(statement: str, text: str) -> list[Weakened]:
    """Return the statement once for each condition, without it; names are unique within the statement."""
    found: list[Weakened] = []
    seen: dict[str, int] = {}
    for name, weaker in _all(text):
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        found.append(Weakened(statement, unique, weaker))
    return found


def _all(text: str) -> Iterator[tuple[str, str]]:
    for start, end, instead in _conditions(text):
        kind = "the alternative " if instead == "FALSE" else ""
        yield kind + _words(text[start:end]), text[:start] + instead + text[end:]
    yield from _arms(text)
    for lock in _LOCK.finditer(text):
        yield _words(lock[0]), text[: lock.start()] + text[lock.end() :]
    for pattern, instead in (
        (r" SKIP LOCKED", ""),
        (r" MATERIALIZED", ""),
        (r"\bpg_advisory_xact_lock\b", ""),
    ):
        for match in re.finditer(pattern, text):
            where = re.findall(r"(\w+) AS\b", text[: match.start() + 4])[-1:]
            yield " ".join([match[0].strip(), *where]), text[: match.start()] + instead + text[match.end() :]


def _words(sql: str) -> str:
    return re.sub(r"\s+", " ", sql).strip()


def _arms(text: str) -> Iterator[tuple[str, str]]:
    """Leave out each refusal of a decision in words; let what grants be asked for nothing."""
    if "END AS word" not in text:
        return
    for arm in _ARM.finditer(text):
        condition, word = arm[1], arm[2]
        kept = f" WHEN TRUE THEN '{word}'" if word == "Authorized" else ""
        yield f"{_words(condition)} → {word}", text[: arm.start()] + kept + text[arm.end() :]


def _tokens(text: str) -> list[_Token]:
    depth, found = 0, []
    for match in _TOKEN.finditer(text):
        depth -= match[0] == ")"
        found.append(_Token(match[0], match.start(), match.end(), depth))
        depth += match[0] == "("
    return found


def _conditions(text: str) -> Iterator[Cut]:
    tokens = _tokens(text)
    for index, token in enumerate(tokens):
        begins = token.word == "WHERE" or (token.word == "ON" and tokens[index + 1].word not in {"CONFLICT", "true"})
        clause, after = _clause(tokens[index + 1 :], token.depth) if begins else ([], "")
        if after != "DO":  # what follows ON CONFLICT only names an index
            yield from _parts(clause)


def _clause(tokens: list[_Token], depth: int) -> tuple[list[_Token], str]:
    for index, token in enumerate(tokens):
        leaves = token.depth < depth or (token.depth == depth and token.word in {*_CLAUSE_ENDS, ","})
        if leaves and not _is_distinct_from(tokens, index):
            return tokens[:index], token.word
    return tokens, ""


def _is_distinct_from(tokens: list[_Token], index: int) -> bool:
    return tokens[index].word == "FROM" and index > 0 and tokens[index - 1].word == "DISTINCT"


def _parts(clause: list[_Token]) -> Iterator[Cut]:
    """Return each condition of a conjunction, each alternative of a disjunction, and what is inside of them."""
    if not clause:
        return
    word, instead = ("OR", "FALSE") if len(_split(clause, "OR")) > 1 else ("AND", "TRUE")
    for part in _split(clause, word):
        yield part[0].start, part[-1].end, instead
        yield from _within(part, word)


def _within(part: list[_Token], word: str) -> Iterator[Cut]:
    if word == "OR" and len(_split(part, "AND")) > 1:
        yield from _parts(part)
    first, last = part[0], part[-1]
    is_group = first.word == "(" and last.word == ")" and all(each.depth > first.depth for each in part[1:-1])
    if is_group and len(part) > 2:
        inner = part[1:-1]
        if len(_split(inner, "OR")) > 1 or len(_split(inner, "AND")) > 1:
            yield from _parts(inner)


def _split(tokens: list[_Token], word: str) -> list[list[_Token]]:
    depth = min(token.depth for token in tokens)
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token.word == word and token.depth == depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
