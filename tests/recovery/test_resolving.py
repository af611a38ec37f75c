"""A Delivering attempt is resolved from evidence: what it appended, or what its partner shows (I6)."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from exports import crashpoints
from exports.evidence import (
    Absent,
    Accepted,
    Baseline,
    Present,
    ProbeSighting,
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    Unanswered,
    decode,
)
from exports.models import DestinationContract, ExportAttemptEvent, ExportJob
from exports.states import Authorization, EventKind, Status, Written
from tests.recovery.lives import (
    ALIASES,
    CONTENT,
    SHA256,
    Place,
    append,
    authorize,
    claim,
    delivering,
    events_of,
    expire,
    finish,
    now,
)
from tests.recovery.running import recover
from tests.recovery.sessions import Background

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount
    from exports.evidence import Evidence

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def about_to_publish(job: ExportJob) -> tuple[Evidence, ...]:
    """Return what an attempt appends before its publish request: a free name, and that it is about to send."""
    name = str(job.expected_file_name)
    return Baseline(Absent()), PublishSent(PublishForm.LINK, f".{name}.tmp", name)


def receipt() -> tuple[Evidence, ...]:
    """Return what an attempt appends after it: the answer, and the file read back."""
    return PublishAnswered(Accepted()), ReadBack(Present(len(CONTENT), SHA256.hex()))


def arrives(account: PartnerAccount, job: ExportJob, content: bytes = CONTENT) -> None:
    (account.directory / str(job.expected_file_name)).write_bytes(content)


def detail_of(job: ExportJob, kind: EventKind) -> str:
    return str(ExportAttemptEvent.objects.get(job_id=job.id, kind=kind).detail)


def looks_at(job: ExportJob) -> list[ProbeSighting]:
    details = ExportAttemptEvent.objects.filter(job_id=job.id, kind=EventKind.DELIVERY_EVIDENCE).order_by("id")
    records = [decode(detail) for detail in details.values_list("detail", flat=True)]
    return [record for record in records if isinstance(record, ProbeSighting)]


def test_a_listing_alone_completes_an_original_that_was_about_to_publish(
    reachable: Place, partner: PartnerAccount
) -> None:
    job = delivering(reachable)
    append(job, *about_to_publish(job))
    arrives(partner, job)
    expire(job)

    assert recover().completed == 1
    assert now(job.id).status == Status.COMPLETED
    assert [look.sighting for look in looks_at(job)] == [Present(len(CONTENT))]
    assert events_of(job)[-2:] == ["DeliveryEvidence", "ResolvedByRecovery"]
    assert f"a look found a file of {len(CONTENT)} bytes" in detail_of(job, EventKind.RESOLVED_BY_RECOVERY)


def test_an_appended_receipt_alone_completes_it_and_nobody_is_asked(place: Place) -> None:
    job = delivering(place)
    append(job, *about_to_publish(job), *receipt())
    expire(job)

    assert recover().completed == 1
    assert now(job.id).status == Status.COMPLETED
    assert looks_at(job) == []


@pytest.mark.parametrize("found", [None, CONTENT + b"more"])
def test_a_name_that_is_free_or_holds_another_file_leaves_the_outcome_unknown(
    reachable: Place, partner: PartnerAccount, found: bytes | None
) -> None:
    job = delivering(reachable)
    append(job, *about_to_publish(job))
    if found is not None:
        arrives(partner, job, found)
    expire(job)

    assert recover().outcome_unknown == 1
    assert now(job.id).status == Status.OUTCOME_UNKNOWN
    assert [look.sighting for look in looks_at(job)] == [Absent() if found is None else Present(len(found))]


def replacement_of(original: ExportJob, place: Place) -> ExportJob:
    """Bring a replacement past cutoff 2."""
    job_id = uuid.uuid4()
    written = ExportJob.objects.db_manager("api").create_replacement(
        job_id=job_id,
        tenant_id=original.tenant_id,
        original_job_id=original.id,
        created_by="user:ann",
        replacement_reason="the partner never saw it",
        overwrite_agreement_ref=None,
    )
    assert written is Written.APPLIED
    job = now(job_id)
    claim(job, place)
    assert authorize(now(job_id), place) is Authorization.AUTHORIZED
    return now(job_id)


@pytest.fixture
def original(reachable: Place) -> ExportJob:
    return finish(delivering(reachable), Status.OUTCOME_UNKNOWN)


def test_a_replacement_without_its_own_baseline_is_never_completed_by_a_listing(
    original: ExportJob, reachable: Place, partner: PartnerAccount
) -> None:
    """Crashed after cutoff 2, before a baseline, while the original's file is there: OutcomeUnknown."""
    job = replacement_of(original, reachable)
    arrives(partner, original)
    expire(job)

    assert recover().outcome_unknown == 1
    assert now(job.id).status == Status.OUTCOME_UNKNOWN


def test_a_replacement_whose_file_could_be_the_originals_is_not_completed_by_its_size(
    original: ExportJob, reachable: Place, partner: PartnerAccount
) -> None:
    job = replacement_of(original, reachable)
    append(job, *about_to_publish(job))
    arrives(partner, original)
    expire(job)

    assert recover().outcome_unknown == 1
    assert now(job.id).status == Status.OUTCOME_UNKNOWN


def test_a_replacement_is_completed_by_the_receipt_that_it_appended(original: ExportJob, reachable: Place) -> None:
    job = replacement_of(original, reachable)
    append(job, *about_to_publish(job), *receipt())
    expire(job)

    assert recover().completed == 1
    assert now(job.id).status == Status.COMPLETED


def test_it_is_judged_by_the_contract_version_of_its_claim_not_by_the_active_one(
    reachable: Place, partner: PartnerAccount
) -> None:
    job = delivering(reachable)
    append(job, *about_to_publish(job))
    arrives(partner, job)
    elsewhere = replace(reachable.contract, endpoint=replace(reachable.contract.endpoint, port=9))
    reachable.destination.active_contract = DestinationContract.objects.create(
        destination=reachable.destination, version=2, terms=elsewhere.to_json(), reason="moved", created_by="user:test"
    )
    reachable.destination.save()
    expire(job)

    assert recover().completed == 1


def test_without_an_answer_it_waits_within_the_bound_and_nothing_is_written(place: Place, settings: Any) -> None:
    job = delivering(place)
    before = events_of(job)
    expire(job, seconds=settings.EXPORTS.resolve_after_seconds - 30)

    assert recover().waiting == 1
    assert (now(job.id).status, events_of(job)) == (Status.DELIVERING, before)


def test_past_the_bound_it_is_unknown_and_the_event_says_what_was_tried(place: Place, settings: Any) -> None:
    job = delivering(place)
    expire(job, seconds=settings.EXPORTS.resolve_after_seconds + 1)

    assert recover().outcome_unknown == 1
    assert now(job.id).status == Status.OUTCOME_UNKNOWN
    assert events_of(job)[-2:] == ["DeliveryEvidence", "ResolvedByRecovery"]
    assert isinstance(looks_at(job)[0].sighting, Unanswered)
    assert "was asked and did not answer" in detail_of(job, EventKind.RESOLVED_BY_RECOVERY)


def test_a_receipt_that_arrives_while_it_waits_completes_it(place: Place) -> None:
    job = delivering(place)
    expire(job)
    assert recover().waiting == 1

    append(job, *about_to_publish(job), *receipt())

    assert recover().completed == 1


def test_a_receipt_that_is_appended_while_its_partner_is_looked_at_counts(reachable: Place) -> None:
    job = delivering(reachable)
    append(job, *about_to_publish(job))
    expire(job)
    crashpoints.arm("recover.probe.after", lambda: Background(lambda: append(job, *receipt())).result())

    try:
        recovered = recover()
    finally:
        crashpoints.disarm()

    # The look itself found nothing: the partner had taken the file by then.
    assert [look.sighting for look in looks_at(job)] == [Absent()]
    assert recovered.completed == 1


def test_a_contract_version_that_cannot_be_read_leaves_the_outcome_unknown_at_once(place: Place) -> None:
    job = delivering(place)
    with connections["default"].cursor() as cursor:
        cursor.execute("UPDATE destination_contracts SET terms = '{}' WHERE id = %s", [place.contract_id])
    expire(job)

    assert recover().outcome_unknown == 1
    assert "cannot be read" in detail_of(job, EventKind.RESOLVED_BY_RECOVERY)


def test_recovery_names_its_run_in_what_it_writes(reachable: Place) -> None:
    job = delivering(reachable)
    expire(job)
    recover()

    written = ExportAttemptEvent.objects.filter(job_id=job.id, kind__in=["DeliveryEvidence", "ResolvedByRecovery"])
    observers = set(written.values_list("observed_by", flat=True))
    assert len(observers) == 1
    assert str(observers.pop()).startswith("recovery:")
