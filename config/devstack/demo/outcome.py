"""Run a sample to its end and say whether it showed what it is made to show."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from config.devstack.demo.api import Refused
from config.devstack.demo.samples import Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from config.devstack.demo.samples import Row, Sample, Scene

ENDED = frozenset({"Canceled", "Rejected", "Stopped", "Failed", "Completed", "OutcomeUnknown"})
_LOOK_EVERY_SECONDS = 0.2  # each look is a request; a person does not notice more


@dataclass(frozen=True)
class Outcome:
    """What became of a sample."""

    sample: Sample
    export_id: str
    status: str
    seen: str
    seconds: float
    as_intended: bool


def run_sample(sample: Sample, scene: Scene, check: Callable[[], None]) -> Outcome:
    """Make the sample's export, wait for its end, judge it; refused requests are an outcome too."""
    begun = time.monotonic()
    try:
        row = _at_its_end(sample, scene, check)
        seen, as_intended = _judge(sample, scene, row)
    except Refused as error:
        return Outcome(sample, "", "refused", str(error), time.monotonic() - begun, as_intended=False)
    return Outcome(sample, row["id"], row["status"], seen, time.monotonic() - begun, as_intended)


def _at_its_end(sample: Sample, scene: Scene, check: Callable[[], None]) -> Row:
    """Read the row until it has ended or the sample's time is over; return it as last read."""
    row = sample.make(scene)
    deadline = time.monotonic() + sample.within_seconds
    while row["status"] not in ENDED and time.monotonic() < deadline:
        check()
        time.sleep(_LOOK_EVERY_SECONDS)
        row = sample.api(scene).read(row["id"])
    return row


def _judge(sample: Sample, scene: Scene, row: Row) -> tuple[str, bool]:
    if row["status"] != sample.status:
        return f"should be {sample.status}; {row['failure_reason'] or 'no failure recorded'}", False
    try:
        return sample.judge(row, *sample.look(scene)), True
    except Mismatch as mismatch:
        return str(mismatch), False
