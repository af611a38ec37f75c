"""Caps and pace: counted under the destination's gate from job rows, so no two claims take the last slot (I5)."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

import pytest

from exports.contracts import Limits
from exports.holds.slots import free_slots
from exports.models import ExportJob, Hold
from exports.states import HoldCause
from exports.worker.writes import AttemptWrites, Claim
from tests.recovery import lives
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

ONE_AT_A_TIME = Limits(max_running=1)


def claim(job: ExportJob, place: Place, limits: Limits = ONE_AT_A_TIME) -> Claim:
    writes = AttemptWrites(job.id, uuid.uuid4(), "worker:test", lambda: 0.0, "worker")
    return writes.claim(job, place.contract_id, limits)


def test_the_slot_after_the_last_is_refused_with_a_recorded_hold_and_the_job_is_untouched() -> None:
    place = lives.a_place(limits=ONE_AT_A_TIME)
    first, second = lives.queued(place), lives.queued(place)
    assert claim(first, place) is Claim.CLAIMED
    assert claim(second, place) is Claim.FULL
    assert lives.now(second.id).attempt_count == 0
    hold = Hold.objects.get(destination=place.destination)
    assert (hold.cause, hold.ended_at) == (HoldCause.CAP, None)


def test_a_second_refusal_records_no_second_hold() -> None:
    place = lives.a_place(limits=ONE_AT_A_TIME)
    assert claim(lives.queued(place), place) is Claim.CLAIMED
    for _ in range(3):
        assert claim(lives.queued(place), place) is Claim.FULL
    assert Hold.objects.count() == 1


def test_two_claims_at_once_do_not_both_take_the_last_slot() -> None:
    place = lives.a_place(limits=ONE_AT_A_TIME)
    first, second = lives.queued(place), lives.queued(place)
    with session("worker") as holder:
        holder.execute("BEGIN")
        run(holder, "lock_gate", destination_id=place.destination.id)
        claims = [Background(partial(claim, job, place)) for job in (first, second)]
        wait_until_blocked_by(holder)
        holder.execute("COMMIT")
    assert sorted(each.result() for each in claims) == [Claim.CLAIMED, Claim.FULL]


def test_without_the_gate_both_would_take_it() -> None:
    """Negative control: the count of a claim that has not committed cannot be seen without waiting for it."""
    place = lives.a_place(limits=ONE_AT_A_TIME)
    job = lives.queued(place)
    with session("worker") as other:
        other.execute("BEGIN")
        run(
            other,
            "claim",
            job_id=job.id,
            attempt_id=uuid.uuid4(),
            worker_id="w",
            lease_seconds=60,
            checked_version=1,
            contract_id=str(place.contract_id),
        )
        assert free_slots(place.destination.id, ONE_AT_A_TIME, "worker").free == 1
        other.execute("ROLLBACK")


def test_pace_counts_what_was_authorized_within_the_minute() -> None:
    place = lives.a_place()
    lives.finish(lives.delivering(place))
    slots = free_slots(place.destination.id, Limits(rate_per_minute=1), "worker")
    assert (slots.free, slots.bound_by) == (0, HoldCause.RATE)


def test_a_destination_without_bounds_takes_no_gate() -> None:
    place = lives.a_place()
    job = lives.queued(place)
    with session("worker") as holder:
        holder.execute("BEGIN")
        run(holder, "lock_gate", destination_id=place.destination.id)
        assert claim(job, place, Limits()) is Claim.CLAIMED


def test_the_gate_waits_no_longer_than_the_roles_lock_timeout() -> None:
    place = lives.a_place(limits=ONE_AT_A_TIME)
    with session("worker") as holder:
        holder.execute("BEGIN")
        run(holder, "lock_gate", destination_id=place.destination.id)
        with session("worker") as other:
            other.execute("SET lock_timeout = '50ms'")
            with pytest.raises(Exception, match="lock timeout"):
                run(other, "lock_gate", destination_id=place.destination.id)
