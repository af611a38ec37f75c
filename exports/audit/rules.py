"""The rules, read once from their files: which promise, what a finding means, and the question itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HEADER = re.compile(r"Promise:\s+(?P<promise>I\d+)\s+(?P<kind>Violation|Notice):\s+(?P<words>.+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One question over the whole database; its rows are (subject, what was found)."""

    name: str
    promise: str
    is_violation: bool
    words: str
    question: str


def load(path: Path) -> Rule:
    """Read one rule; raise ValueError when its header does not say promise and meaning."""
    lines = path.read_text(encoding="utf-8").splitlines()
    header = HEADER.fullmatch(" ".join(line[2:].strip() for line in lines if line.startswith("--")))
    if header is None:
        raise ValueError(f"{path.name}: the header must state Promise, then Violation or Notice")
    return Rule(
        name=path.stem,
        promise=header["promise"],
        is_violation=header["kind"] == "Violation",
        words=header["words"],
        question="\n".join(line for line in lines if not line.startswith("--")),
    )


def _by_promise(rule: Rule) -> tuple[int, str]:
    return int(rule.promise[1:]), rule.name


RULES = tuple(sorted(map(load, (Path(__file__).parent / "sql").glob("*.sql")), key=_by_promise))
"""Every rule, in the order of the promises."""
