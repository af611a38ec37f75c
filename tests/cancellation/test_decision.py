"""The decision about a click, as a function: every status has its one outcome."""

from __future__ import annotations

import pytest

from exports.actions.request_cancellation import decide
from exports.states import CancellationOutcome, Status

DECISIONS = {
    Status.QUEUED: CancellationOutcome.CANCELED_WHILE_QUEUED,
    Status.RUNNING: CancellationOutcome.STOP_REQUESTED,
    Status.DELIVERING: CancellationOutcome.TOO_LATE,
    Status.CANCELED: CancellationOutcome.ALREADY_CANCELED,
    Status.REJECTED: CancellationOutcome.ALREADY_ENDED,
    Status.STOPPED: CancellationOutcome.ALREADY_ENDED,
    Status.FAILED: CancellationOutcome.ALREADY_ENDED,
    Status.COMPLETED: CancellationOutcome.TOO_LATE,
    Status.OUTCOME_UNKNOWN: CancellationOutcome.TOO_LATE,
}


def test_every_status_is_decided() -> None:
    assert set(DECISIONS) == set(Status)


@pytest.mark.parametrize(("status", "outcome"), DECISIONS.items())
def test_a_click_that_finds_this_status_is_told_this_outcome(status: Status, outcome: CancellationOutcome) -> None:
    assert decide(status, stop_requested=False) is outcome


def test_a_running_export_that_was_asked_to_stop_says_so() -> None:
    assert decide(Status.RUNNING, stop_requested=True) is CancellationOutcome.STOP_ALREADY_REQUESTED
