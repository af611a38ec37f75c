"""What SIGTERM does to an attempt, by where it stands: nothing is burnt, nothing is sent that was not announced."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.disposition import Disposition
from exports.models import ExportAttemptEvent
from exports.states import FailureReason, Status
from exports.worker.drain import Drain
from reconciliation import recovery
from tests.faults.afterwards import spooled
from tests.faults.observing import held_contacts, until
from tests.faults.scenarios import BY_NAME
from tests.faults.waking import standing_at
from tests.faults.world import evidence, kinds, lease_is_over, now

if TYPE_CHECKING:
    from pathlib import Path

    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


@pytest.fixture
def brief(spool: Path, settings: Any) -> Path:
    """Set a drain bound that is reached as soon as the drain begins to matter."""
    settings.EXPORTS = replace(settings.EXPORTS, drain_seconds=0.2)
    return spool


def requeued_as(job: ExportJob) -> str | None:
    """Run recovery and return what its event says of the requeued attempt."""
    assert recovery.run_once(10, time_budget_seconds=10, using="worker").requeued == 1
    event: ExportAttemptEvent = ExportAttemptEvent.objects.get(job_id=job.id, kind="RequeuedByRecovery")
    return event.detail


def test_a_process_on_its_way_out_claims_nothing(world: World, waking: Waking) -> None:
    job = world.queued()
    waking.drain.begin()

    assert waking.run(job) is Disposition.UNSETTLED

    assert now(job).status == Status.QUEUED
    assert waking.message.settled == 0


def test_a_build_that_ends_within_the_bound_is_delivered(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("build.before") as building:
        disposition = waking.start(job)
        building.wait()
        waking.drain.begin()
        building.let_go()
        assert disposition.result() is Disposition.SETTLED

    assert now(job).status == Status.COMPLETED


def test_a_build_at_the_bound_is_cancelled_its_file_deleted_and_its_lease_given_back(
    brief: Path, world: World, waking: Waking
) -> None:
    job = world.queued()
    with held_contacts():
        disposition = waking.start(job)
        until(lambda: bool(spooled(job.id, brief)))
        waking.drain.begin()
        disposition.result()

    assert spooled(job.id, brief) == []
    assert kinds(job) == ["Claimed"]
    assert now(job).status == Status.RUNNING
    assert lease_is_over(job)
    assert requeued_as(job) == "returned"


def test_an_attempt_given_back_does_not_count_towards_the_cap(brief: Path, world: World, waking: Waking) -> None:
    del brief
    job = world.queued()
    with held_contacts():
        disposition = waking.start(job)
        until(lambda: now(job).status == Status.RUNNING)
        waking.drain.begin()
        disposition.result()
    limits_of_one = BY_NAME["exhaust"].limits()
    assert limits_of_one.max_attempts == 1

    assert requeued_as(job) == "returned"
    assert now(job).attempt_count == 1
    assert now(job).status == Status.QUEUED


def test_an_attempt_at_the_bound_that_somebody_asked_to_stop_is_stopped_instead(
    brief: Path, world: World, waking: Waking, settings: Any
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, stop_poll_seconds=30.0)  # the watcher does not see it in time
    job = world.queued()
    with held_contacts():
        disposition = waking.start(job)
        until(lambda: bool(spooled(job.id, brief)))
        BY_NAME["cancel"].act(job.id, "api")
        waking.drain.begin()
        disposition.result()

    assert kinds(job) == ["Claimed", "Stopped"]
    assert now(job).status == Status.STOPPED


@pytest.mark.parametrize("point", ["build.after", "connect.after"])
def test_an_attempt_at_the_bound_that_has_built_its_file_does_not_cross_cutoff_2(
    point: str, brief: Path, world: World, waking: Waking
) -> None:
    job = world.queued()
    told: list[None] = []
    with standing_at(point) as stand:
        disposition = waking.start(job)
        stand.wait()
        waking.drain.at_the_bound(lambda: told.append(None))  # after the attempt's own: they are run in turn
        waking.drain.begin()
        until(lambda: bool(told))
        stand.let_go()
        disposition.result()

    assert kinds(job) == ["Claimed"]
    assert lease_is_over(job)
    assert (world.arrived(), spooled(job.id, brief)) == ([], [])
    assert requeued_as(job) == "returned"


def test_an_upload_at_the_bound_whose_publish_was_not_sent_ends_with_that_evidence(
    brief: Path, world: World, waking: Waking
) -> None:
    del brief
    job = world.queued()
    with standing_at("delivery.after_upload") as uploading:
        disposition = waking.start(job)
        uploading.wait()
        waking.drain.begin()
        until(lambda: waking.drain.is_over)
        uploading.let_go()
        disposition.result()

    assert world.arrived() == []
    assert any('"not_sent"' in each and '"draining"' in each for each in evidence(job))
    assert not any('"publish_sent"' in each for each in evidence(job))
    assert now(job).status == Status.FAILED
    assert now(job).failure_reason == FailureReason.NOT_DELIVERED


@pytest.mark.parametrize("point", ["delivery.after_announce", "delivery.before_publish", "delivery.after_publish"])
def test_an_upload_at_the_bound_whose_publish_was_announced_waits_for_the_answer(
    point: str, brief: Path, world: World, waking: Waking
) -> None:
    del brief
    job = world.queued()
    with standing_at(point) as publishing:
        disposition = waking.start(job)
        publishing.wait()
        waking.drain.begin()
        until(lambda: waking.drain.is_over)
        publishing.let_go()
        disposition.result()

    assert now(job).status == Status.COMPLETED
    assert world.arrived_as_recorded(job)


def test_beginning_takes_no_lock_that_the_interrupted_thread_may_hold() -> None:
    drain = Drain()
    done = threading.Event()

    def handler_interrupts_a_wait() -> None:
        with drain._begun._cond:  # type: ignore[attr-defined] # what a wait holds when a signal comes
            drain.begin()
            done.set()

    threading.Thread(target=handler_interrupts_a_wait, daemon=True).start()
    assert done.wait(5)
    assert drain.wait_begun(5)


def test_beginning_twice_keeps_the_first_bound() -> None:
    drain = Drain()
    drain.begin()
    ends_at = drain.ends_at
    until(lambda: time.monotonic() > ends_at - drain_seconds())
    drain.begin()
    assert drain.ends_at == ends_at


def drain_seconds() -> float:
    return BY_NAME["deliver"].limits().drain_seconds


def test_what_is_registered_after_the_bound_runs_at_once_and_what_was_taken_back_never(settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, drain_seconds=0.05)
    drain = Drain()
    taken_back, kept, late = threading.Event(), threading.Event(), threading.Event()
    drain.at_the_bound(taken_back.set)()
    drain.at_the_bound(kept.set)
    drain.begin()
    assert kept.wait(5)
    drain.at_the_bound(late.set)

    assert late.is_set()
    assert not taken_back.is_set()
