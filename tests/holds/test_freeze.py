"""The freeze refuses cutoff 2 from the moment it is committed, and burns no attempt (I4, I5)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from exports.models import ExportJob, Hold
from exports.models.base import ClockTimestamp
from exports.states import Authorization, HoldCause
from tests.recovery import lives
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)


def freeze() -> Hold:
    return Hold.objects.using("api").create(cause=HoldCause.FROZEN, reason="incident", created_by="user:ada")


def thaw(hold: Hold) -> None:
    Hold.objects.using("api").filter(id=hold.id).update(ended_at=ClockTimestamp(), ended_by="user:ada")


def test_a_frozen_export_is_not_authorized_and_one_thawed_is() -> None:
    place = lives.a_place()
    job = lives.running(place)
    hold = freeze()
    assert lives.authorize(job, place) is Authorization.FROZEN
    thaw(hold)
    assert lives.authorize(job, place) is Authorization.AUTHORIZED


def test_a_freeze_whose_time_is_over_holds_nothing() -> None:
    place = lives.a_place()
    job = lives.running(place)
    Hold.objects.create(
        cause=HoldCause.FROZEN, reason="over", created_by="user:ada", until=datetime(2020, 1, 1, tzinfo=UTC)
    )
    assert lives.authorize(job, place) is Authorization.AUTHORIZED


def test_a_pause_of_one_destination_does_not_refuse_cutoff_2_of_what_already_runs_there() -> None:
    place = lives.a_place()
    job = lives.running(place)
    Hold.objects.create(destination=place.destination, tenant=place.tenant, reason="pause", created_by="user:ada")
    assert lives.authorize(job, place) is Authorization.AUTHORIZED


def test_a_freeze_committed_while_cutoff_2_waits_for_its_lock_refuses_it() -> None:
    place = lives.a_place()
    job = lives.running(place)
    with session("api") as holder:
        holder.execute("BEGIN")
        run(holder, "lock_for_cancellation", tenant_id=job.tenant_id, job_id=job.id)
        waiting = Background(lambda: lives.authorize(job, place))
        wait_until_blocked_by(holder)
        freeze()
        holder.execute("ROLLBACK")
    assert waiting.result() is Authorization.FROZEN
    assert ExportJob.objects.get(id=job.id).status == "Running"
