"""Each fact is counted once, where it happens, by what really happened."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from exports import dispatcher, sweeper
from exports.actions.request_cancellation import Click, request_cancellation
from exports.evidence import (
    Absent,
    Baseline,
    NoReply,
    Phase,
    PublishAnswered,
    ReadBack,
    Refused,
    Trouble,
    Unanswered,
    UploadFailed,
)
from exports.models import Destination, DestinationContract, ExportJob
from exports.models.base import ClockTimestamp
from exports.observability import handing
from exports.observability.partners import count_trouble
from exports.states import Status
from exports.worker.keeper import HeldLease
from reconciliation import recovery
from tests.faults.world import now
from tests.lives import running
from tests.observability.counting import Moved

if TYPE_CHECKING:
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = [
    pytest.mark.usefixtures("spool"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]


@pytest.fixture
def moved() -> Moved:
    return Moved()


def test_a_delivered_export_is_counted_at_every_step(world: World, waking: Waking, moved: Moved) -> None:
    job = world.queued()

    waking.run(job)

    size = len(world.final(job).read_bytes())
    assert now(job).status == Status.COMPLETED
    assert moved.by("policy_decisions_total", decision="Allow") == 1
    assert moved.by("claims_total", answer="Claimed") == 1
    assert moved.by("authorizations_total", word="Authorized") == 1
    assert moved.by("terminal_writes_total", to="Completed", reason="", answer="Applied") == 1
    assert moved.by("verdicts_total", conclusion="Completed", proof="hash") == 1
    assert [moved.by("phase_seconds_count", phase=phase) for phase in ("build", "connect", "deliver")] == [1, 1, 1]
    assert (moved.by("built_rows_total"), moved.by("built_bytes_total")) == (20, size)
    assert moved.by("delivered_bytes_total") == size


@pytest.mark.parametrize("line", ["", "[]]", '[["no_such", {}, 1]]', '[["exports_claims", {"colour": "red"}, 1]]', "7"])
def test_a_line_of_counts_that_is_none_is_refused_and_counts_nothing(line: str, moved: Moved) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        handing.add(line)
    assert moved.by("claims_total", answer="Claimed") == 0


def test_an_export_that_policy_refuses_is_counted_as_refused(world: World, waking: Waking, moved: Moved) -> None:
    job = world.queued()
    Destination.objects.update(is_enabled=False)

    waking.run(job)

    assert now(job).status == Status.REJECTED
    assert moved.by("policy_decisions_total", decision="Reject") == 1
    assert moved.by("rejections_total", reason="destination_disabled") == 1
    assert moved.by("claims_total", answer="Claimed") == 0


def test_a_partner_that_cannot_be_reached_is_counted_by_its_kind(world: World, waking: Waking, moved: Moved) -> None:
    terms = world.contract.terms
    terms["endpoint"]["port"] = 1
    DestinationContract.objects.filter(id=world.contract.id).update(terms=terms)

    waking.run(world.queued())

    assert moved.by("sftp_errors_total", step="connect", kind="connection_refused") == 1
    assert moved.by("terminal_writes_total", to="Running", reason="", answer="Applied") == 1


def test_what_went_wrong_at_the_partner_is_counted_by_step_and_kind(moved: Moved) -> None:
    count_trouble(UploadFailed(Phase.WRITE, Trouble.TIMEOUT))
    count_trouble(PublishAnswered(NoReply(Trouble.CONNECTION_LOST)))
    count_trouble(PublishAnswered(Refused(4)))
    count_trouble(ReadBack(Unanswered(Trouble.PROTOCOL)))
    count_trouble(Baseline(Absent()))

    kinds = {"upload": "timeout", "publish": "connection_lost", "look": "protocol"}
    assert [moved.by("sftp_errors_total", step=step, kind=kind) for step, kind in kinds.items()] == [1, 1, 1]
    assert moved.by("sftp_errors_total", step="publish", kind="status_4") == 1


def test_a_click_is_counted_by_what_it_found_and_its_repeat_is_no_second_one(world: World, moved: Moved) -> None:
    job = world.queued()
    click = Click(tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by="user:ann")

    for _ in range(2):
        request_cancellation(click, using="api")

    assert moved.by("cancellations_total", outcome="CanceledWhileQueued") == 1
    assert moved.by("cancellations_total", outcome="Repeated") == 1


def test_a_takeover_is_counted_by_its_case_and_the_renewal_it_beat_as_lost(world: World, moved: Moved) -> None:
    life = running(world.destination)
    ExportJob.objects.filter(id=life.job.id).update(lease_expires_at=ClockTimestamp())

    recovery.run_once(10, time_budget_seconds=10, using="worker")
    HeldLease(life.job.id, life.attempt_id, lambda: None, 0.0).renew("worker")

    assert moved.by("takeovers_total", case="requeued") == 1
    assert moved.by("renewals_failed_total", why="lost") == 1


@pytest.mark.usefixtures("empty_broker")
def test_what_was_swept_and_dispatched_is_counted(world: World, moved: Moved) -> None:
    job = world.queued()
    dispatcher.run_once(10, "dispatcher")
    ExportJob.objects.filter(id=job.id).update(woken_at="2020-01-01T00:00:00Z", sweep_count=2)

    sweeper.run_once(10, time_budget_seconds=10, using="worker")
    dispatcher.run_once(10, "dispatcher")

    assert (moved.by("sweeps_per_job_count"), moved.by("sweeps_per_job_sum")) == (1, 3)
    assert (moved.by("swept_total"), moved.by("swept_often_total"), moved.by("dispatched_total")) == (1, 1, 2)
