"""A click on cancel whose answer is lost on the wire, at each statement of its transaction.

The proxy loses a reply after the server's CommandComplete, or a request before it arrives. Whoever clicked is told
what is recorded, or that nobody knows; never an outcome without its record (I6, I9).
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports.actions.request_cancellation import Busy, BusyCause, Click, Recorded, request_cancellation
from exports.models import CancellationRequest
from exports.states import CancellationOutcome, Status
from tests.faults.boundaries import running
from tests.faults.relay import Doors
from tests.faults.wire_proxy import Fault, containing
from tests.faults.wire_proxy import statement as registered
from tests.faults.world import BY, now

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.actions.request_cancellation import CancellationAnswer
    from exports.models import ExportJob
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy_api"]),
    pytest.mark.usefixtures("audited"),
]

STEPS: dict[str, Callable[[str], bool]] = {
    "lock timeout": containing("set_config('lock_timeout'"),
    "locking read": registered("lock_for_cancellation"),
    "lookup": containing('FROM "cancellation_requests"'),
    "update": registered("cancel_queued"),
    "insert": registered("record_cancellation"),
}
"""The statements before the commit: without it, none of them has happened."""
LOSSES = (Fault.CUT_REPLY, Fault.DROP_REQUEST)
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=[loss.name for loss in LOSSES])


def a_click(job: ExportJob) -> Click:
    return Click(tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by=BY)


def outcome_of(answer: CancellationAnswer) -> str:
    assert isinstance(answer, Recorded)
    return answer.request.outcome


def assert_nothing_happened(job: ExportJob) -> None:
    assert CancellationRequest.objects.count() == 0
    assert (now(job).status, now(job).cancellation_request_id) == (Status.QUEUED, None)


@each_loss
@pytest.mark.parametrize("step", STEPS)
def test_a_click_lost_before_its_commit_is_not_known_and_has_done_nothing(
    step: str, loss: Fault, proxy: WireProxy, lossy_api: str, world: World
) -> None:
    job = world.queued()
    click = a_click(job)
    laid = proxy.ambush(STEPS[step], loss)

    assert request_cancellation(click, using=lossy_api) == Busy(click.request_id, BusyCause.UNKNOWN)

    laid.wait()
    assert_nothing_happened(job)
    # It holds nothing either: the same click goes through, and nobody waits for the lost session.
    assert outcome_of(request_cancellation(click, using=lossy_api)) == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert (now(job).status, now(job).cancellation_request_id) == (Status.CANCELED, click.request_id)


def test_a_click_whose_commit_never_arrived_is_not_known_and_counts_when_it_is_sent_again(
    proxy: WireProxy, lossy_api: str, world: World
) -> None:
    job = world.queued()
    click = a_click(job)
    laid = proxy.ambush(containing("COMMIT"), Fault.DROP_REQUEST)

    assert request_cancellation(click, using=lossy_api) == Busy(click.request_id, BusyCause.UNKNOWN)

    laid.wait()
    assert_nothing_happened(job)
    assert outcome_of(request_cancellation(click, using=lossy_api)) == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert CancellationRequest.objects.count() == 1


@pytest.mark.parametrize(
    ("arrange", "outcome"),
    [
        (lambda world: world.queued(), CancellationOutcome.CANCELED_WHILE_QUEUED),
        (running, CancellationOutcome.STOP_REQUESTED),
    ],
    ids=["queued", "running"],
)
def test_a_click_whose_committed_answer_was_lost_is_told_what_was_recorded(
    arrange: Callable[[World], ExportJob],
    outcome: CancellationOutcome,
    proxy: WireProxy,
    lossy_api: str,
    world: World,
) -> None:
    job = arrange(world)
    click = a_click(job)
    laid = proxy.ambush(containing("COMMIT"), Fault.CUT_REPLY)

    answer = request_cancellation(click, using=lossy_api)

    laid.wait()
    assert outcome_of(answer) == outcome
    assert outcome_of(request_cancellation(click, using=lossy_api)) == outcome
    assert CancellationRequest.objects.count() == 1


def test_a_committed_click_is_not_known_while_the_database_is_away_and_told_when_it_is_back(
    proxy: WireProxy, lossy_api: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.boundary.REREAD_SECONDS", 0.3)
    job = world.queued()
    click = a_click(job)
    laid = proxy.ambush(containing("COMMIT"), Fault.CUT_REPLY, then=lambda: proxy.set_doors(Doors.CLOSED))

    assert request_cancellation(click, using=lossy_api) == Busy(click.request_id, BusyCause.UNKNOWN)

    laid.wait()
    proxy.set_doors(Doors.OPEN)
    connections[lossy_api].close()
    assert outcome_of(request_cancellation(click, using=lossy_api)) == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert CancellationRequest.objects.count() == 1
