"""The matrix row "Reconciliation", and what a person is asked and told when settling an unknown outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, IntegrityError, connections

from exports.evidence import Acknowledged, Bound, PartnerStatement, Says
from exports.models import ExportAttemptEvent
from exports.states import EventKind, FailureReason, Status, Written
from reconciliation.actions.add_evidence import Added, add_evidence
from reconciliation.actions.correct_outcome import Corrected, NotProved, RecordMoved, SamePerson
from reconciliation.actions.reconcile_outcome import AgainstTheEvidence, AlreadySettled, Reconciled
from reconciliation.actions.settling import NotFound
from reconciliation.managers import Settlements
from tests.recovery import lives
from tests.recovery.running import recover
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by
from tests.settling import settled

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

REFUSED = r"permission denied|may not|may change"


def resolved_by_recovery() -> Any:
    """Return an export that recovery left unknown: nobody at its partner can be asked, and its time is over."""
    place = lives.a_place()
    job = lives.delivering(place)
    lives.expire(job, seconds=10_000)
    recover()
    found = lives.now(job.id)
    assert found.status == Status.OUTCOME_UNKNOWN
    return found


@pytest.mark.parametrize("resolution", [Status.COMPLETED, Status.FAILED])
def test_what_recovery_left_unknown_is_reconciled_and_both_events_survive(resolution: Status) -> None:
    job = resolved_by_recovery()
    assert settled.reconcile(job, resolution) == Reconciled(resolution)
    assert lives.now(job.id).status == resolution
    assert {EventKind.RESOLVED_BY_RECOVERY, EventKind.RECONCILED} <= set(lives.events_of(job))


def test_a_second_reconciled_event_for_the_attempt_is_refused() -> None:
    job = settled.unknown(lives.a_place())
    assert settled.reconcile(job) == Reconciled(Status.COMPLETED)
    answer = settled.reconcile(job, Status.FAILED, decided_by=settled.RUDI)
    assert isinstance(answer, AlreadySettled)
    assert answer.by is not None
    assert answer.by.by == settled.ROSA
    with pytest.raises(IntegrityError, match="uq_attempt_transition"), connections["reconciliation"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at) VALUES (%s, %s, %s, now())",
            [job.id, job.attempt_id, "Reconciled"],
        )


@pytest.mark.parametrize(("status", "reason"), [("Failed", None), ("Completed", "NotDelivered")])
def test_a_failed_row_without_a_code_and_any_other_with_one_are_refused(status: str, reason: str | None) -> None:
    job = settled.unknown(lives.a_place())
    with pytest.raises(IntegrityError, match="ck_export_jobs_failure"), connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_jobs SET status = %s, failure_reason = %s WHERE id = %s", [status, reason, job.id]
        )


def test_a_correction_to_failed_without_a_code_is_refused_by_the_database() -> None:
    job = lives.finish(lives.delivering(lives.a_place()))
    wanted = settled.correction(job, failure_reason=None)
    with pytest.raises(IntegrityError, match="ck_export_jobs_failure"):
        Settlements("reconciliation").correct(allow_same_person=False, **_values(wanted))


def test_a_correction_to_completed_with_a_code_records_none() -> None:
    job = settled.unknown(lives.a_place())
    settled.reconcile(job, Status.FAILED)
    failed = lives.now(job.id)
    wanted = settled.correction(failed, Status.COMPLETED, failure_reason=FailureReason.NOT_DELIVERED)
    assert Settlements("reconciliation").correct(allow_same_person=False, **_values(wanted)) is Written.APPLIED
    assert lives.now(job.id).failure_reason is None


def _values(wanted: Any) -> dict[str, Any]:
    return {name: getattr(wanted, name) for name in wanted.__dataclass_fields__}


def test_a_correction_changes_a_record_once_and_records_who_and_why() -> None:
    job = lives.finish(lives.delivering(lives.a_place()))
    assert settled.correct(job) == Corrected(Status.FAILED)
    event = ExportAttemptEvent.objects.get(job_id=job.id, kind=EventKind.CORRECTED)
    assert event.observed_by == settled.RUDI
    assert event.detail == "Completed to Failed: ticket 8; late evidence"
    again = settled.correct(lives.now(job.id), Status.COMPLETED)
    assert isinstance(again, RecordMoved)
    assert again.by is not None
    assert again.by.by == settled.RUDI


@pytest.mark.parametrize("alias", ["worker", "api"])
def test_the_workers_and_the_apis_roles_may_not_correct_or_reconcile(alias: str) -> None:
    job = lives.finish(lives.delivering(lives.a_place()))
    with pytest.raises(DatabaseError, match=REFUSED):
        Settlements(alias).correct(allow_same_person=False, **_values(settled.correction(job)))
    unknown = settled.unknown(lives.a_place())
    with pytest.raises(DatabaseError, match=REFUSED):
        Settlements(alias).reconcile(
            tenant_id=unknown.tenant_id,
            job_id=unknown.id,
            attempt_id=lives.attempt_of(unknown),
            resolution=Status.COMPLETED,
            reconciled_by="x",
            evidence_ref="x",
            reason="x",
        )
    with session(alias) as direct, pytest.raises(psycopg.Error, match=REFUSED):
        direct.execute("UPDATE export_jobs SET status = 'Completed' WHERE id = %s", [unknown.id])


def test_deciding_against_the_evidence_needs_a_reason_and_keeps_it() -> None:
    job = settled.unknown(lives.a_place())
    assert isinstance(settled.reconcile(job, why_against=" "), AgainstTheEvidence)
    assert lives.now(job.id).status == Status.OUTCOME_UNKNOWN
    assert settled.reconcile(job, why_against="I saw the file myself") == Reconciled(Status.COMPLETED)
    detail = ExportAttemptEvent.objects.get(job_id=job.id, kind=EventKind.RECONCILED).detail
    assert detail is not None
    assert "I saw the file myself" in detail
    assert "proposed: OutcomeUnknown" in detail


def test_two_people_reconcile_at_once_and_the_second_is_told_who_did_when_and_how() -> None:
    job = settled.unknown(lives.a_place())
    with session("reconciliation") as first:
        first.execute("BEGIN")
        run(
            first,
            "reconcile",
            tenant_id=job.tenant_id,
            job_id=job.id,
            attempt_id=job.attempt_id,
            resolution="Failed",
            reconciled_by=settled.ROSA,
            evidence_ref="ticket 7",
            reason="it never came",
        )
        second = Background(lambda: settled.reconcile(job, decided_by=settled.RUDI))
        wait_until_blocked_by(first)
        first.execute("COMMIT")
    answer = second.result()
    assert isinstance(answer, AlreadySettled)
    assert answer.status is Status.FAILED
    assert answer.by is not None
    assert (answer.by.by, answer.by.words) == (settled.ROSA, "Failed: ticket 7; it never came")


def test_another_tenants_export_looks_missing() -> None:
    job = settled.unknown(lives.a_place())
    foreign = lives.a_place().tenant.id
    assert settled.reconcile(job, tenant_id=foreign) == NotFound()
    assert settled.correct(job, tenant_id=foreign) == NotFound()


def test_the_person_who_reconciled_does_not_correct_unless_a_setting_allows_it_and_it_is_recorded(
    settings: Any,
) -> None:
    job = settled.unknown(lives.a_place())
    settled.reconcile(job)
    completed = lives.now(job.id)
    assert settled.correct(completed, corrected_by=settled.ROSA) == SamePerson()
    settings.EXPORTS = replace(settings.EXPORTS, allow_same_person_correction=True)
    assert settled.correct(completed, corrected_by=settled.ROSA) == Corrected(Status.FAILED)
    detail = ExportAttemptEvent.objects.get(job_id=job.id, kind=EventKind.CORRECTED).detail
    assert detail is not None
    assert detail.endswith("[by the person who reconciled it, as a setting allows]")


def test_a_correction_to_completed_needs_evidence_that_identifies_the_file() -> None:
    job = settled.unknown(lives.a_place())
    settled.reconcile(job, Status.FAILED)
    failed = lives.now(job.id)
    assert isinstance(settled.correct(failed, Status.COMPLETED), NotProved)
    statement = PartnerStatement(
        says=Says.PUBLISHED,
        reference="mail of 3 May",
        observed_by=settled.RUDI,
        observed_at=failed.created_at,
        size=failed.expected_file_bytes,
        sha256=bytes(failed.expected_file_sha256 or b"").hex(),
    )
    assert add_evidence(job.tenant_id, job.id, lives.attempt_of(failed), statement) is Added.ADDED
    assert lives.now(job.id).status == Status.FAILED
    assert settled.correct(failed, Status.COMPLETED) == Corrected(Status.COMPLETED)


def test_a_late_receipt_from_a_superseded_attempt_changes_nothing_but_the_evidence() -> None:
    place = lives.a_place()
    job = lives.running(place)
    first = lives.attempt_of(job)
    lives.expire(job)
    recover()
    lives.claim(lives.now(job.id), place)
    before = lives.now(job.id)
    lives.append(before, Acknowledged(Bound.ATTEMPT), attempt_id=first)
    after = lives.now(job.id)
    assert (after.status, after.attempt_id) == (before.status, before.attempt_id)
