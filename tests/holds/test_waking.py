"""Whatever ends a hold writes the wake-ups: at most the free slots, and never by raising a sweep count (I5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from exports import sweeper
from exports.contracts import Limits
from exports.holds import waking
from exports.holds.opening import hold_full, hold_unreachable
from exports.models import DestinationContract, Hold
from exports.models.base import ClockTimestamp
from exports.states import HoldCause
from exports.worker.policy import Allow, BuiltInPolicy
from exports.worker.policy import Hold as Held
from tests.holds.crowding import crowd
from tests.recovery import lives
from tests.recovery.sessions import run, session

if TYPE_CHECKING:
    from exports.models import ExportJob
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

OLD = 3600.0


def pause(place: Place, **scope: Any) -> Hold:
    chosen = scope or {"destination": place.destination, "tenant": place.tenant}
    return Hold.objects.using("api").create(cause=HoldCause.PAUSED, reason="pause", created_by="user:ada", **chosen)


def end(hold: Hold) -> None:
    Hold.objects.using("api").filter(id=hold.id).update(ended_at=ClockTimestamp(), ended_by="user:ada")


def old(place: Place) -> ExportJob:
    job = lives.queued(place)
    lives.age(job, seconds=OLD)
    return job


def wake(limit: int = 100) -> waking.Woken:
    return waking.run_once(limit, "worker")


def decide(job: ExportJob) -> Any:
    return BuiltInPolicy().evaluate(job, "worker")


def test_policy_holds_what_its_destination_its_tenant_or_everything_holds() -> None:
    place = lives.a_place()
    job = lives.queued(place)
    for scope in ({}, {"tenant": place.tenant}, {"destination": None}):
        hold = pause(place, **scope)
        assert isinstance(decide(job), Held), scope
        end(hold)
    assert isinstance(decide(job), Allow)


def test_a_pause_elsewhere_holds_nothing_here() -> None:
    here, there = lives.a_place(), lives.a_place()
    pause(there)
    assert isinstance(decide(lives.queued(here)), Allow)


def test_the_sweeper_passes_over_what_is_held_and_wakes_the_rest() -> None:
    held, free = lives.a_place(), lives.a_place()
    waiting, due = old(held), old(free)
    pause(held)
    swept = sweeper.run_once(100, time_budget_seconds=5, using="worker")
    assert swept.woken == 1
    assert (lives.now(waiting.id).sweep_count, lives.now(due.id).sweep_count) == (0, 1)


def test_nothing_is_woken_while_the_hold_stands() -> None:
    place = lives.a_place()
    old(place)
    pause(place)
    assert wake() == waking.Woken()


def test_the_end_of_a_hold_wakes_all_it_held_once_and_raises_no_sweep_count() -> None:
    place = lives.a_place()
    jobs = [old(place) for _ in range(3)]
    end(pause(place))
    assert wake().woken == 3
    assert [len(lives.wake_ups_of(job)) for job in jobs] == [2, 2, 2]
    assert [lives.now(job.id).sweep_count for job in jobs] == [0, 0, 0]
    assert wake().woken == 0


def test_a_hold_under_which_nothing_waits_any_more_is_released_after_it_was_looked_at_long_enough() -> None:
    place = lives.a_place()
    hold = pause(place)
    end(hold)
    assert wake().released == 0
    Hold.objects.filter(id=hold.id).update(ended_at=ClockTimestamp() - waking.STILL_LOOKED_AT - timedelta(seconds=1))
    assert wake().released == 1


def test_a_row_that_somebody_holds_is_woken_in_a_later_round() -> None:
    place = lives.a_place()
    job = old(place)
    end(pause(place))
    with session("api") as holder:
        holder.execute("BEGIN")
        run(holder, "lock_for_cancellation", tenant_id=job.tenant_id, job_id=job.id)
        assert wake() == waking.Woken()
    assert wake().woken == 1


def test_the_end_of_a_wide_hold_does_not_wake_what_a_narrow_one_still_holds() -> None:
    held, free = lives.a_place(), lives.a_place()
    old(held), old(free)
    everything = pause(held, destination=None)
    pause(held)
    end(everything)
    assert wake().woken == 1


def test_at_most_the_free_slots_are_woken_at_a_destination_with_a_cap() -> None:
    place = lives.a_place(limits=Limits(max_running=2))
    for _ in range(5):
        old(place)
    end(pause(place))
    assert wake().woken == 2


def test_a_full_destination_is_fed_when_a_slot_frees_and_its_hold_ends_with_the_queue() -> None:
    limits = Limits(max_running=1)
    place = lives.a_place(limits=limits)
    busy = lives.delivering(place)
    job = old(place)
    hold_full(job, HoldCause.CAP, "worker:test", "worker")
    assert wake() == waking.Woken()
    lives.finish(busy)
    assert waking.feed(place.destination.id, limits, "worker") == 1
    lives.claim(lives.now(job.id), place)
    assert wake().released == 1
    assert Hold.objects.get().ended_by == waking.WAKER


def test_an_outage_is_left_alone_longer_each_time_and_ends_by_itself() -> None:
    place = lives.a_place()
    job = old(place)
    lengths = []
    for _ in range(3):
        hold_unreachable(job, "nobody answered", "worker:test", "worker")
        hold = Hold.objects.get(ended_at=None)
        assert hold.until is not None
        lengths.append(round((hold.until - hold.created_at).total_seconds()))
        past = datetime(2020, 1, 1, tzinfo=UTC)
        Hold.objects.filter(id=hold.id).update(until=past)
        wake()
    assert lengths == [15, 30, 60]
    assert not Hold.objects.filter(ended_at=None).exists()


def test_what_an_outage_held_is_woken_when_its_time_is_over() -> None:
    place = lives.a_place()
    job = old(place)
    hold_unreachable(job, "nobody answered", "worker:test", "worker")
    Hold.objects.update(until=ClockTimestamp() - timedelta(seconds=1))
    assert wake().woken == 1


def test_two_wakers_at_once_wake_each_export_once() -> None:
    place = lives.a_place()
    jobs = [old(place) for _ in range(4)]
    end(pause(place))
    with session("worker") as first:
        first.execute("BEGIN")
        before = datetime.now(UTC)
        parameters = {"destination_id": place.destination.id, "batch": 2, "woken_before": before, "job_id": None}
        assert len(run(first, "wake_waiting", **parameters)) == 2
        assert wake().woken == 2
        first.execute("COMMIT")
    assert [len(lives.wake_ups_of(job)) for job in jobs] == [2, 2, 2, 2]


def test_a_paused_hundred_thousand_does_not_keep_the_due_ones_elsewhere_from_being_swept() -> None:
    held, free = lives.a_place(), lives.a_place()
    crowd(held.destination, 100_000)
    due = [old(free) for _ in range(5)]
    pause(held)
    assert sweeper.run_once(500, time_budget_seconds=20, using="worker").woken == 5
    assert [lives.now(job.id).sweep_count for job in due] == [1] * 5


def test_a_contract_this_release_cannot_read_holds_instead_of_going_round_for_ever() -> None:
    place = lives.a_place()
    job = lives.queued(place)
    DestinationContract.objects.filter(id=place.contract_id).update(terms={"format": 99})
    decision = decide(job)
    assert isinstance(decision, Held)
    assert "cannot be read" in decision.reason
