"""A wake-up is a hint: what it leads to is in the row, and its message is settled when the row carries the work."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DatabaseError

from exports.conf import limits
from exports.disposition import Disposition
from exports.models import Destination, ExportJob, ExportRejection, Hold
from exports.states import Status
from tests.faults.relay import Doors
from tests.faults.scenarios import BY_NAME
from tests.faults.waking import standing_at
from tests.faults.wire_proxy import Fault
from tests.faults.world import BY, a_world, kinds, now

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount
    from exports.worker.policy import Decision
    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"])


def test_a_queued_export_is_claimed_settled_and_delivered(world: World, waking: Waking) -> None:
    job = world.queued()
    assert waking.run(job) is Disposition.SETTLED
    assert waking.message.settled == 1
    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]
    assert world.arrived_as_recorded(job)


def test_the_message_is_settled_after_the_confirmed_claim_and_before_the_build(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("claim.after") as claimed:
        disposition = waking.start(job)
        claimed.wait()
        assert waking.message.settled == 0
        claimed.let_go()
        disposition.result()

    job = world.queued()
    with standing_at("build.before") as building:
        disposition = waking.start(job)
        building.wait()
        assert waking.message.settled == 2
        building.let_go()
        disposition.result()


def test_the_attempts_own_deadline_is_counted_from_before_the_claim_was_sent(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("claim", Fault.HOLD_REPLY)
    with standing_at("build.before") as building:
        disposition = waking.start(job, lossy)
        laid.wait()
        answered_at = time.monotonic()  # the database has claimed; the answer is still on its way
        laid.release()
        building.wait()
        (lease,) = waking.worker(lossy).keeper._leases
        assert lease.current_until < answered_at + limits().lease_seconds
        building.let_go()
        disposition.result()


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.QUEUED])
def test_a_wake_up_for_an_export_that_is_not_queued_is_settled_and_does_nothing(
    status: Status, world: World, waking: Waking
) -> None:
    job = world.queued()
    reason = "BuildFailed" if status is Status.FAILED else None
    ExportJob.objects.filter(id=job.id).update(status=status, failure_reason=reason)

    assert waking.run(job) is Disposition.SETTLED

    assert waking.message.settled == 1
    assert kinds(job) == []
    assert now(job).status == status


def test_a_wake_up_for_no_export_is_settled(world: World, waking: Waking) -> None:
    job = world.queued()
    job.id = uuid.uuid4()
    assert waking.run(job) is Disposition.SETTLED
    assert waking.message.settled == 1


def test_what_policy_refuses_is_rejected_with_its_reasons_and_settled(world: World, waking: Waking) -> None:
    job = world.queued()
    Destination.objects.filter(id=world.destination.id).update(is_enabled=False)

    assert waking.run(job) is Disposition.SETTLED

    assert now(job).status == Status.REJECTED
    assert ExportRejection.objects.get(job_id=job.id).reasons == ["The destination is disabled."]
    assert waking.message.settled == 1


def test_what_is_held_stays_queued_and_its_message_is_settled(world: World, waking: Waking) -> None:
    job = world.queued()
    Hold.objects.create(destination=world.destination, reason="a pause", created_by=BY)

    assert waking.run(job) is Disposition.SETTLED

    assert now(job).status == Status.QUEUED
    assert waking.message.settled == 1


def test_a_cancel_between_the_read_and_the_claim_wins_and_nothing_is_built(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("claim.before") as reading:
        disposition = waking.start(job)
        reading.wait()
        BY_NAME["cancel"].act(job.id, "api")
        reading.let_go()
        assert disposition.result() is Disposition.SETTLED

    assert now(job).status == Status.CANCELED
    assert kinds(job) == []
    assert world.arrived() == []


def test_an_edit_between_the_read_and_the_claim_wins_and_its_own_wake_up_follows(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("claim.before") as reading:
        disposition = waking.start(job)
        reading.wait()
        BY_NAME["edit"].act(job.id, "api")
        reading.let_go()
        assert disposition.result() is Disposition.SETTLED

    # It was checked under terms that no longer hold, so it is claimed by nobody …
    assert now(job).status == Status.QUEUED
    assert kinds(job) == []
    # … until the edit's wake-up brings it to a worker that evaluates the new ones.
    waking.run(job)
    assert now(job).status == Status.COMPLETED


def test_two_wake_ups_at_once_run_the_job_once(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("claim.before") as first:
        one = waking.start(job)
        first.wait()
        other = waking.start(job).result()
        first.let_go()
        assert (one.result(), other) == (Disposition.SETTLED, Disposition.SETTLED)

    assert now(job).attempt_count == 1
    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]


def test_a_database_that_is_away_before_the_claim_leaves_the_message_unsettled(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    proxy.set_doors(Doors.CLOSED)
    with pytest.raises(DatabaseError):  # the task turns it into a pause and a rejection
        waking.run(job, lossy)
    assert waking.message.settled == 0
    assert now(job).status == Status.QUEUED


def test_an_export_without_contacts_waits_for_a_person_and_burns_no_attempt(
    partner: PartnerAccount, waking: Waking
) -> None:
    world = a_world(partner, contacts=0)
    job = world.queued()

    assert waking.run(job) is Disposition.SETTLED

    assert kinds(job) == ["Claimed"]
    assert Hold.objects.get(job_id=job.id).reason == "The file has no contacts."
    assert world.arrived() == []


class Undecided:
    """A policy with a bug."""

    def evaluate(self, job: ExportJob, using: str) -> Decision:
        """Fail."""
        del job, using
        raise ZeroDivisionError


def test_a_policy_that_fails_leaves_the_message_unsettled(world: World, waking: Waking, settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, policy=f"{__name__}.Undecided")
    job = world.queued()
    with pytest.raises(ZeroDivisionError):
        waking.run(job)
    assert waking.message.settled == 0
