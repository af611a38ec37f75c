"""What a part hands back: ratios and times, each with its target beside it."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class Verdict(StrEnum):
    """Whether a figure reached its target; INFO: it has none and stands there to explain another one."""

    MET = "met"
    MISSED = "missed"
    INFO = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. Exactly one of the bounds is given, or none; `beside` says what was compared."""

    measure: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    beside: str = ""

    @property
    def verdict(self) -> Verdict:
        """Judge the value by its bound."""
        if self.at_least is not None:
            return Verdict.MET if self.value >= self.at_least else Verdict.MISSED
        if self.at_most is not None:
            return Verdict.MET if self.value <= self.at_most else Verdict.MISSED
        return Verdict.INFO

    @property
    def target(self) -> str:
        """The bound in words."""
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return "" if self.at_most is None else f"<= {self.at_most:g}"

    def plain(self) -> dict[str, Any]:
        """Return it for the JSON file."""
        return asdict(self) | {"target": self.target, "verdict": self.verdict.value}


class Skipped(Exception):  # noqa: N818 - a reason, not a fault
    """A part cannot run on this machine; the words say what is missing."""


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that `percent` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * percent // 100))
    return ordered[int(rank) - 1]


def median(values: Sequence[float]) -> float:
    """Return the median: of rounds on a busy machine, what an ordinary one gave."""
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """Return all rounds' values, for whoever wants to judge the noise."""
    return ", ".join(f"{value:.2f}" for value in values)
