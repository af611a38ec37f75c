"""What is nobody's fault burns no attempt: a freeze, a file that looks wrong, a partner that cannot be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.contracts import EmptyExport, Guards, Limits, Payload
from exports.models import Contact, Destination, ExportJob, Hold
from exports.models.base import ClockTimestamp
from exports.states import HoldCause, Status
from reconciliation.recovery import run_once
from tests.faults.waking import standing_at
from tests.faults.world import World, a_world, agree, evidence, kinds, now

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from tests.faults.waking import Waking

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"]),
    pytest.mark.usefixtures("spool"),
]


def recover() -> None:
    run_once(100, time_budget_seconds=10, using="worker")


def attempts_burnt(job: ExportJob) -> int:
    """Count attempts the way recovery's cap does: those given back are none."""
    returned = kinds(job).count("RequeuedByRecovery")
    return now(job).attempt_count - returned


def let_go_on(hold: Hold) -> None:
    Hold.objects.filter(id=hold.id).update(
        ended_at=ClockTimestamp(), ended_by="user:omar", ended_reason="the partner expects it"
    )


def test_a_freeze_during_the_build_gives_the_attempt_back_and_nothing_is_sent(waking: Waking, world: World) -> None:
    job = world.queued()
    with standing_at("build.after") as stand:
        running = waking.start(job)
        stand.wait()
        Hold.objects.using("api").create(cause=HoldCause.FROZEN, reason="incident", created_by="user:ada")
        stand.let_go()
        running.result(30)
    recover()
    assert (now(job).status, attempts_burnt(job), world.arrived()) == (Status.QUEUED, 0, [])


@pytest.mark.parametrize(
    ("contacts", "parts", "words"),
    [
        (0, {}, "The file has no contacts."),
        (3, {"guards": Guards(max_rows=2)}, "The file has 3 contacts; the contract allows 2."),
        (3, {"guards": Guards(max_bytes=10)}, "The file has 204 bytes; the partner takes 10."),
    ],
)
def test_a_file_that_looks_wrong_waits_for_a_person_and_goes_on_when_one_says_so(
    waking: Waking, partner: PartnerAccount, contacts: int, parts: dict[str, Guards], words: str
) -> None:
    world = a_world(partner, contacts=contacts, **parts)
    job = world.queued()
    waking.run(job)
    recover()
    hold = Hold.objects.get(job_id=job.id)
    assert (hold.cause, hold.reason, hold.version) == (HoldCause.GUARD, words, 1)
    assert (now(job).status, attempts_burnt(job), world.arrived()) == (Status.QUEUED, 0, [])
    waking.run(job)
    assert now(job).attempt_count == 1, "a held export is not claimed again"
    let_go_on(hold)
    waking.run(job)
    assert now(job).status == Status.COMPLETED


def test_an_empty_export_goes_out_where_the_contract_sends_empty_ones(waking: Waking, partner: PartnerAccount) -> None:
    world = a_world(partner, contacts=0, payload=Payload(empty_export=EmptyExport.SEND))
    job = world.queued()
    waking.run(job)
    assert now(job).status == Status.COMPLETED


def test_a_count_far_from_the_last_deliverys_waits_for_a_person(waking: Waking, partner: PartnerAccount) -> None:
    world = a_world(partner, contacts=10, guards=Guards(max_change_percent=50))
    first = world.queued()
    waking.run(first)
    assert now(first).status == Status.COMPLETED
    Contact.objects.filter(external_id__gte="000004").delete()
    second = world.queued()
    waking.run(second)
    reason = Hold.objects.get(job_id=second.id).reason
    assert reason == "The file has 4 contacts; the last delivery there had 10, and 50 % change is allowed."


def test_an_edit_of_the_terms_is_guarded_anew(waking: Waking, partner: PartnerAccount) -> None:
    world = a_world(partner, contacts=0)
    job = world.queued()
    waking.run(job)
    recover()
    let_go_on(Hold.objects.get())
    other = Destination.objects.create(tenant=world.tenant, name="another")
    agree(other, partner)
    changed = ExportJob.objects.db_manager("api").change_terms(
        tenant_id=world.tenant.id,
        job_id=job.id,
        destination_id=other.id,
        expected_version=1,
        changed_by="user:omar",
        reason=None,
    )
    assert changed == 2
    waking.run(job)
    assert Hold.objects.get(version=2).cause == HoldCause.GUARD


def test_a_partner_that_cannot_be_reached_holds_its_destination_and_says_what_was_seen(
    waking: Waking, world: World, partner: PartnerAccount
) -> None:
    terms = world.contract.terms
    terms["endpoint"]["port"] = 9
    terms["people"] = {"technical": "Ada, +49 30 1"}
    world.contract.terms = terms
    world.contract.save()
    job = world.queued()
    waking.run(job)
    recover()
    hold = Hold.objects.get()
    assert (hold.cause, hold.destination_id) == (HoldCause.UNREACHABLE, world.destination.id)
    assert hold.reason.endswith("(at the partner: Ada, +49 30 1)")
    assert (now(job).status, attempts_burnt(job)) == (Status.QUEUED, 0)
    assert "could_not_connect" in evidence(job)[-1]
    waking.run(job)
    assert now(job).attempt_count == 1, "nobody knocks again before the pause is over"
    assert partner.host in ("127.0.0.1", "localhost")


def test_the_next_export_begins_when_the_slot_it_waited_for_frees(
    waking: Waking, partner: PartnerAccount, spool: Path
) -> None:
    world = a_world(partner, limits=Limits(max_running=1))
    first, second = world.queued(), world.queued()
    with standing_at("build.after") as stand:
        running = waking.start(first)
        stand.wait()
        waking.run(second)
        assert now(second).status == Status.QUEUED
        stand.let_go()
        running.result(30)
    assert now(second).woken_at > second.woken_at, "the end of the first attempt woke it"
    waking.run(second)
    assert [now(job).status for job in (first, second)] == [Status.COMPLETED] * 2
    assert list(spool.iterdir()) == []
