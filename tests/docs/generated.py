"""The parts of the documentation that are made from the code: `python -m tests.docs.generated` writes them.

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; a test holds each equal to what the code says.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from exports.roles import DEFAULTS
from exports.states import EVENT_WRITERS, TRANSITIONS
from exports.verdicts.facts import Aftermath, Facts, PartnerWord, Publishing, Start
from exports.verdicts.table import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from exports.verdicts.boxes import Row

DOCS = Path(__file__).resolve().parents[2] / "docs"
_WHOLE: dict[str, frozenset[object]] = {
    "start": frozenset(Start),
    "publishing": frozenset(Publishing),
    "aftermath": frozenset(Aftermath),
    "word": frozenset(PartnerWord),
}


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def verdicts() -> str:
    """Return the table of verdicts, a row a box."""
    head = (
        "row",
        "set out from",
        "publish request",
        "seen afterwards",
        "partner's word",
        "contract",
        "concludes",
        "proof",
        "because",
    )
    return _table(head, (_verdict(row) for row in ROWS))


def _verdict(row: Row) -> Iterator[str]:
    yield row.name
    yield from (_values(row, name) for name in _WHOLE)
    yield ", ".join(_switches(row)) or "any"
    yield f"**{row.conclusion}**"
    yield str(row.proof)
    yield row.reason


def _values(row: Row, name: str) -> str:
    box, whole = getattr(row, name), _WHOLE[name]
    left_out = whole - box
    if not left_out:
        return "any"
    if len(left_out) < len(box):
        return f"any but {_listed(left_out)}"
    return _listed(box)


def _listed(values: Iterable[object]) -> str:
    return ", ".join(sorted(str(value) for value in values))


def _switches(row: Row) -> Iterator[str]:
    for each in fields(Facts):
        if each.name not in _WHOLE and len(box := getattr(row, each.name)) == 1:
            yield each.name if True in box else f"not {each.name}"


def transitions() -> str:
    """Return the table of transitions with the logins that may make them."""
    rows = ((str(before or "(born)"), str(after), _listed(roles)) for (before, after), roles in TRANSITIONS.items())
    return _table(("from", "to", "by"), rows)


def writers() -> str:
    """Return who may write which kind of event."""
    return _table(("event", "written by"), ((str(kind), _listed(roles)) for kind, roles in EVENT_WRITERS.items()))


def role_defaults() -> str:
    """Return what each login starts with."""
    names = sorted({name for defaults in DEFAULTS.values() for name in defaults})
    rows = ((f"`{role}`", *(defaults.get(name, "") for name in names)) for role, defaults in DEFAULTS.items())
    return _table(("login", *(f"`{name}`" for name in names)), rows)


PARTS: dict[str, Callable[[], str]] = {
    "verdicts": verdicts,
    "transitions": transitions,
    "writers": writers,
    "role defaults": role_defaults,
}
"""Each part by its name in the documents."""


def filled(text: str) -> str:
    """Return a document with every part as the code says it now."""
    for name, make in PARTS.items():
        pattern = rf"(?<=<!-- begin {name} -->\n).*?(?=<!-- end {name} -->)"
        text = re.sub(pattern, lambda _, make=make: f"{make()}\n", text, flags=re.DOTALL)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    for page in DOCS.glob("*.md"):
        page.write_text(filled(page.read_text()))
