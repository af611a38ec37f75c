"""Charts as drawings that need no script and no style of their own: bars in whole units, with words for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = 20
"""Units of the drawing that one hour is wide; the page scales the drawing as a whole."""
GAP = 4
LEAST = 2
"""A bar that is not nothing is at least so high: one failure among thousands is what is looked for."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: where it stands, and what it says when it is pointed at."""

    x: int
    y: int
    width: int
    height: int
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of bars, one an hour, all under the same top."""

    tone: str
    bars: list[Bar]


def top_of(*series: Sequence[int]) -> int:
    """Return the value at the upper edge of a chart: a round one, so that a line there can be read."""
    most = max((max(values, default=0) for values in series), default=0)
    magnitude = int(10 ** (len(str(most)) - 1))
    return next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= most)


def row(
    values: Sequence[int], words: Sequence[str], *, tone: str, height: int, top: int, part: tuple[int, int] = (0, 1)
) -> Row:
    """Draw values as bars. `part` says which of how many rows of one chart this is: they stand side by side."""
    number, of = part
    width = (STEP - GAP) // of
    heights = [min(height, max(LEAST, round(value * height / top))) if value else 0 for value in values]
    bars = [
        Bar(at * STEP + GAP // 2 + number * width, height - tall, width, tall, words[at])
        for at, tall in enumerate(heights)
        if tall
    ]
    return Row(tone, bars)
