"""The two forms of a result: a table to read, and one JSON file to keep."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.figures import Figure

HEADINGS = ("part", "measure", "value", "target", "", "beside")


@dataclass
class Outcome:
    """How one part went: its figures, or why there are none, and how busy the machine was."""

    part: str
    figures: list[Figure] = field(default_factory=list)
    skipped: str = ""
    failed: str = ""
    seconds: float = 0.0
    load_before: float = 0.0
    load_after: float = 0.0

    def rows(self) -> list[tuple[str, ...]]:
        """Return its lines of the table."""
        if self.skipped or self.failed:
            words = f"skipped: {self.skipped}" if self.skipped else f"FAILED: {self.failed}"
            return [(self.part, words, "", "", "", "")]
        return [(self.part, *_cells(figure)) for figure in self.figures]

    def plain(self) -> dict[str, Any]:
        """Return it for the JSON file."""
        return {
            "part": self.part,
            "figures": [figure.plain() for figure in self.figures],
            "skipped": self.skipped,
            "failed": self.failed,
            "seconds": round(self.seconds, 1),
            "load_before": self.load_before,
            "load_after": self.load_after,
        }


def _cells(figure: Figure) -> tuple[str, ...]:
    value = f"{figure.value:,.3g}" if abs(figure.value) < 100 else f"{figure.value:,.0f}"
    return (figure.measure, f"{value} {figure.unit}".strip(), figure.target, figure.verdict.value, figure.beside)


def table(outcomes: list[Outcome]) -> str:
    """Return all figures in columns, a part's load behind its name."""
    rows = [HEADINGS, *(row for outcome in outcomes for row in outcome.rows())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS) - 1)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)) for row in rows]
    loads = [f"{o.part}: {o.load_before} → {o.load_after}, {o.seconds:.0f} s" for o in outcomes]
    return "\n".join([line.rstrip() for line in lines] + ["", "load before → after, time: " + "; ".join(loads)])


def write(file: Path, machine: dict[str, Any], outcomes: list[Outcome]) -> None:
    """Write everything as one JSON file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "parts": [outcome.plain() for outcome in outcomes],
    }
    file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
