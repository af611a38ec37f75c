"""Plain text tables for a terminal."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return left-aligned columns under a ruled header; a cell may have several lines."""
    lines = [line for row in rows for line in _lines(row)]
    widths = [max(len(line[at]) for line in (header, *lines)) for at in range(len(header))]
    ruled = ["-" * width for width in widths]
    return "\n".join(_joined(line, widths) for line in (header, ruled, *lines))


def _lines(row: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip_longest(*(cell.split("\n") for cell in row), fillvalue=""))


def _joined(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
