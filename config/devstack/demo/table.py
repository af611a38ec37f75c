"""Plain text tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return left-aligned columns, each as wide as its widest cell, under a ruled header."""
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    ruled = ["-" * width for width in widths]
    return "\n".join(_line(row, widths) for row in (header, ruled, *rows))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
