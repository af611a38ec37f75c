"""What an acknowledgment says of the file it is about, and what that ties it to. Pure.

The name of an acknowledgment holds the delivery key. That is enough for the only upload there ever was under
that key; once several uploads share it, only content tells which of them is meant (reference: an existing final
name; I8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from exports.evidence import Bound

if TYPE_CHECKING:
    from exports.dossier import Family
    from exports.evidence import ExpectedFile, Present

MOST_BYTES: Final = 16_384
"""Of an acknowledgment's content; a line or two is usual, and a longer one is told from others by its size."""

_HASH: Final = re.compile(rb"(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])")
_SIZE: Final = re.compile(rb"\b(?:bytes|size)\b[\"']?\s*[:=]\s*[\"']?([0-9]{1,18})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """Hashes (hex) and sizes in bytes that an acknowledgment names; mostly none or one of each."""

    hashes: frozenset[str] = frozenset()
    sizes: frozenset[int] = frozenset()


NOTHING: Final = Said()
"""An acknowledgment that says nothing about content."""


class Fit(Enum):
    """How what was said fits one file: it can be no other, it can be this one, it is another."""

    IDENTIFIED = auto()
    POSSIBLE = auto()
    ANOTHER = auto()


def said_in(content: bytes) -> Said:
    """Read the hashes and sizes in an acknowledgment's content, in whatever form they are written."""
    return Said(
        frozenset(found.decode().lower() for found in _HASH.findall(content)),
        frozenset(map(int, _SIZE.findall(content))),
    )


def said_by(file: Present) -> Said:
    """Return what our own file says of itself when it lies under another name."""
    return Said(
        frozenset(() if file.sha256 is None else (file.sha256.lower(),)),
        frozenset(() if file.size is None else (file.size,)),
    )


def fit(said: Said, file: ExpectedFile, *, size_identifies: bool) -> Fit:
    """Compare what was said with one file; a hash decides alone, whatever the size."""
    named: frozenset[object] = said.hashes or said.sizes
    value: object = file.sha256.lower() if said.hashes else file.size
    if not named:
        return Fit.POSSIBLE
    if value not in named:
        return Fit.ANOTHER
    alone = len(named) == 1 and (bool(said.hashes) or size_identifies)
    return Fit.IDENTIFIED if alone else Fit.POSSIBLE


def tie(said: Said, expected: ExpectedFile, family: Family, *, size_identifies: bool) -> Bound | None:
    """Return what an acknowledgment found for this attempt is tied to; None: to another job's upload.

    `family` must have been read after the acknowledgment was seen: who was not authorized by then cannot have
    caused it.
    """
    mine = fit(said, expected, size_identifies=size_identifies)
    others = [fit(said, each, size_identifies=size_identifies) for each in family.rivals]
    original = family.original and fit(said, family.original, size_identifies=size_identifies)
    if mine is Fit.ANOTHER:
        if original is Fit.IDENTIFIED:
            return Bound.ORIGINAL
        return None if Fit.IDENTIFIED in others else Bound.KEY
    others += [original] if original else []
    alone = mine is Fit.IDENTIFIED and all(each is Fit.ANOTHER for each in others)
    return Bound.ATTEMPT if alone or not others else Bound.KEY
