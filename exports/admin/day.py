"""The last 24 hours on the overview: two drawings and the table that says the same in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from exports.admin.charts import STEP, Row, row, top_of
from exports.queries.sums import HOUR, HOURS, Counted, hours_until, sums_of
from exports.states import Happened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from exports.access import Reach

HIGH, LOW = 120, 28
"""Heights of the large drawing and of the small ones, in its units."""

NAMES: Mapping[Happened, tuple[str, str]] = {
    Happened.CREATED: ("Created", "grey"),
    Happened.COMPLETED: ("Delivered", "green"),
    Happened.OUTCOME_UNKNOWN: ("Not known", "amber"),
    Happened.FAILED: ("Failed", "red"),
    Happened.STOPPED: ("Stopped", "grey"),
    Happened.CANCELED: ("Cancelled", "grey"),
    Happened.REJECTED: ("Refused", "grey"),
}
THROUGHPUT = (Happened.CREATED, Happened.COMPLETED)


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of the table, and the list of the exports it counts."""

    value: int
    address: str


@dataclass(frozen=True, slots=True)
class Small:
    """One outcome's own small drawing: its name, its number over the day, its largest hour, and its bars."""

    name: str
    total: Cell
    most: int
    drawn: Row


@dataclass(frozen=True, slots=True)
class Day:
    """All of it; `lines` are the hours, the newest first, `totals` the whole day's numbers in the same order."""

    names: list[str]
    lines: list[tuple[str, list[Cell]]]
    totals: list[Cell]
    throughput: list[Row]
    top: int
    labels: list[tuple[int, str]]
    smalls: list[Small]
    width: int = STEP * HOURS
    high: int = HIGH
    low: int = LOW


def day_of(reach: Reach, now: datetime) -> Day:
    """Read and draw what happened within reach, in one query."""
    hours = hours_until(now)
    sums = sums_of(reach, hours[0])
    series = {what: [sums.get((hour, what), 0) for hour in hours] for what in NAMES}
    top = top_of(*(series[what] for what in THROUGHPUT))
    return Day(
        names=[name for name, _ in NAMES.values()],
        lines=[(f"{hour:%H}:00", _cells(series, hours, at)) for at, hour in reversed(list(enumerate(hours)))],
        totals=[_cell(what, hours[0], hours[-1] + HOUR, sum(values)) for what, values in series.items()],
        throughput=[_drawn(what, series[what], hours, HIGH, top, (at, 2)) for at, what in enumerate(THROUGHPUT)],
        top=top,
        labels=[(at * STEP, f"{hour:%H}:00") for at, hour in enumerate(hours) if hour.hour % 6 == 0],
        smalls=[_small(what, series[what], hours) for what in NAMES if what is not Happened.CREATED],
    )


def _cells(series: Mapping[Happened, Sequence[int]], hours: Sequence[datetime], at: int) -> list[Cell]:
    return [_cell(what, hours[at], hours[at] + HOUR, values[at]) for what, values in series.items()]


def _cell(what: Happened, since: datetime, until: datetime, value: int) -> Cell:
    asked = urlencode({"counted": Counted(what, since, until).text})
    return Cell(value, f"{reverse('admin:exports_exportjob_changelist')}?{asked}")


def _small(what: Happened, values: Sequence[int], hours: Sequence[datetime]) -> Small:
    name, _ = NAMES[what]
    total = _cell(what, hours[0], hours[-1] + HOUR, sum(values))
    most = max(values)
    return Small(name, total, most, _drawn(what, values, hours, LOW, most or 1))


def _drawn(  # noqa: PLR0917 - what a drawing is made of
    what: Happened,
    values: Sequence[int],
    hours: Sequence[datetime],
    height: int,
    top: int,
    part: tuple[int, int] = (0, 1),
) -> Row:
    name, tone = NAMES[what]
    words = [f"{hour:%H}:00: {value:,} {name.lower()}" for hour, value in zip(hours, values, strict=True)]
    return row(values, words, tone=tone, height=height, top=top, part=part)
