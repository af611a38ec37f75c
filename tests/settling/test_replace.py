"""The matrix rows "Replacement creation" and "Correction and replacement, in both orders"."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import IntegrityError, connections

from exports.actions.create_replacement import (
    Created,
    IdReused,
    NoSuchAgreement,
    NotFound,
    NotReplaceable,
    Repeated,
    ReplacementExists,
    SayWhy,
    create_replacement,
)
from exports.actions.request_cancellation import Click, Recorded, request_cancellation
from exports.contracts import Acknowledgment, AcknowledgmentKind, Verification
from exports.evidence import Acknowledged, Bound
from exports.models import ExportJob, OverwriteAgreement
from exports.states import Authorization, FailureReason, Status, Written
from reconciliation.actions.correct_outcome import Corrected, ReplacementInProgress
from reconciliation.actions.reconcile_outcome import Reconciled
from tests.recovery import lives
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by
from tests.settling import settled

if TYPE_CHECKING:
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)


def created(job: ExportJob, **changes: Any) -> ExportJob:
    answer = settled.replacement(job, **changes)
    assert isinstance(answer, Created), answer
    return lives.now(answer.job.id)


def fail(job: ExportJob, reason: FailureReason) -> ExportJob:
    written = ExportJob.objects.db_manager("worker").finish_failed(
        job_id=job.id, attempt_id=lives.attempt_of(job), worker_id="w", reason=reason, detail=None
    )
    assert written is Written.APPLIED
    return lives.now(job.id)


def fail_delivery(job: ExportJob, reason: FailureReason) -> ExportJob:
    written = ExportJob.objects.db_manager("worker").finish_delivery(
        job_id=job.id,
        attempt_id=lives.attempt_of(job),
        worker_id="w",
        outcome=Status.FAILED,
        reason=reason,
        detail="test",
    )
    assert written is Written.APPLIED
    return lives.now(job.id)


def replacement_running(original: ExportJob, place: Place) -> ExportJob:
    job = created(original)
    lives.claim(job, place)
    return lives.now(job.id)


# Replacement creation


@pytest.mark.parametrize("state", ["completed", "running", "delivering", "occupied", "queued"])
def test_nothing_is_inserted_for_an_original_that_may_not_be_replaced(state: str) -> None:
    place = lives.a_place()
    job = {
        "completed": lambda: lives.finish(lives.delivering(place)),
        "running": lambda: lives.running(place),
        "delivering": lambda: lives.delivering(place),
        "occupied": lambda: fail(lives.running(place), FailureReason.FINAL_NAME_OCCUPIED),
        "queued": lambda: lives.queued(place),
    }[state]()
    reason = None if job.failure_reason is None else FailureReason(job.failure_reason)
    assert settled.replacement(job) == NotReplaceable(Status(job.status), reason)
    assert ExportJob.objects.count() == 1


def test_nothing_is_inserted_for_another_tenants_export() -> None:
    job = settled.unknown(lives.a_place())
    assert settled.replacement(job, tenant_id=lives.a_place().tenant.id) == NotFound()


def test_the_database_refuses_a_replacement_whose_key_or_tenant_differs_or_that_names_a_replacement() -> None:
    place, other = lives.a_place(), lives.a_place()
    original, replaced_before = settled.unknown(place), settled.unknown(place)
    first = created(replaced_before)
    for tenant, key, replaced in (
        (place.tenant.id, "another-key", original.id),
        (other.tenant.id, original.delivery_key, original.id),
        (place.tenant.id, first.delivery_key, first.id),
    ):
        with pytest.raises(IntegrityError, match="fk_export_jobs"), connections["default"].cursor() as cursor:
            cursor.execute(
                "INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, delivery_key,"
                " replaces_job_id, created_by, replacement_reason, woken_at)"
                " VALUES (%s, %s, 'Queued', 1, %s, %s, %s, 'x', 'x', now())",
                [uuid.uuid4(), tenant, place.destination.id, key, replaced],
            )


def test_of_two_simultaneous_creations_one_fails_on_the_one_replacement_index() -> None:
    original = settled.unknown(lives.a_place())
    with session("api") as first:
        first.execute("BEGIN")
        run(first, "create_replacement", **_parameters(original))
        second = Background(lambda: settled.replacement(original))
        wait_until_blocked_by(first)
        first.execute("COMMIT")
    assert isinstance(second.result(), ReplacementExists)
    assert ExportJob.objects.filter(replaces_job_id=original.id).count() == 1


def _parameters(original: ExportJob) -> dict[str, Any]:
    return {
        "job_id": uuid.uuid4(),
        "tenant_id": original.tenant_id,
        "original_job_id": original.id,
        "created_by": settled.RUTH,
        "replacement_reason": "x",
        "overwrite_agreement_ref": None,
    }


def test_after_a_replacement_completed_another_creation_fails() -> None:
    place = lives.a_place()
    original = settled.unknown(place)
    job = replacement_running(original, place)
    assert lives.authorize(job, place) is Authorization.AUTHORIZED
    lives.finish(lives.now(job.id))
    assert settled.replacement(original) == ReplacementExists(job.id)


def test_after_a_replacement_found_the_originals_file_another_creation_fails() -> None:
    place = lives.a_place()
    original = settled.unknown(place)
    job = fail(replacement_running(original, place), FailureReason.ORIGINAL_DELIVERED)
    assert settled.replacement(original) == ReplacementExists(job.id)


def test_a_replacement_that_ended_not_delivered_frees_the_slot() -> None:
    place = lives.a_place()
    original = settled.unknown(place)
    job = replacement_running(original, place)
    lives.authorize(job, place)
    fail_delivery(lives.now(job.id), FailureReason.NOT_DELIVERED)
    assert isinstance(settled.replacement(original), Created)


def test_a_creation_that_races_a_correction_to_completed_waits_and_then_inserts_nothing() -> None:
    place = lives.a_place()
    original = _reconciled_to_failed(place)
    with session("reconciliation") as correcting:
        correcting.execute("BEGIN")
        run(correcting, "correct", **_correction(original))
        creating = Background(lambda: settled.replacement(original))
        wait_until_blocked_by(correcting)
        correcting.execute("COMMIT")
    assert creating.result() == NotReplaceable(Status.COMPLETED, None)


def _reconciled_to_failed(place: Place) -> ExportJob:
    job = settled.unknown(place)
    assert settled.reconcile(job, Status.FAILED) == Reconciled(Status.FAILED)
    return lives.now(job.id)


def _correction(job: ExportJob) -> dict[str, Any]:
    wanted = settled.correction(job, Status.COMPLETED)
    return {name: getattr(wanted, name) for name in wanted.__dataclass_fields__} | {"allow_same_person": False}


def test_a_replacement_is_resolved_to_its_original() -> None:
    place = lives.a_place()
    original = settled.unknown(place)
    first = fail(replacement_running(original, place), FailureReason.BUILD_FAILED)
    assert created(first).replaces_job_id == original.id


def test_it_carries_the_key_the_destination_and_every_answer() -> None:
    original = settled.unknown(lives.a_place())
    job = created(original)
    assert (job.delivery_key, job.destination_id) == (original.delivery_key, original.destination_id)
    assert job.created_by == settled.RUTH
    assert job.replacement_reason is not None
    assert job.replacement_reason.splitlines() == [
        "the partner asked for it",
        "the original may still upload: no (its credentials were revoked)",
        "reconciliation was tried: yes (ticket 7)",
        "the partner deduplicates on the key: yes (contract, section 4)",
        "nevertheless, because: nobody can settle it any more",
    ]


def test_an_answer_that_speaks_against_it_refuses_until_the_approver_says_why() -> None:
    original = _reconciled_to_failed(lives.a_place())
    assert isinstance(settled.replacement(original, answers=settled.FOR_IT), Created)
    unsettled = settled.unknown(lives.a_place())
    answer = settled.replacement(unsettled, answers=settled.FOR_IT)
    assert answer == SayWhy(("No reconciliation of the original is on record.",))
    may_upload = replace(
        settled.FOR_IT, original_may_still_upload=replace(settled.FOR_IT.original_may_still_upload, yes=True)
    )
    assert isinstance(settled.replacement(_reconciled_to_failed(lives.a_place()), answers=may_upload), SayWhy)


def test_an_agreement_that_is_not_recorded_for_the_destination_is_refused() -> None:
    place = lives.a_place()
    original = settled.unknown(place)
    assert settled.replacement(original, overwrite_agreement_ref="A-1") == NoSuchAgreement()
    OverwriteAgreement.objects.create(
        ref="A-1",
        tenant=place.tenant,
        destination=place.destination,
        agreed_by="Jo at the partner",
        agreed_at=original.created_at,
        under_contract="frame contract",
        recorded_by=settled.RUTH,
    )
    assert created(original, overwrite_agreement_ref="A-1").overwrite_agreement_ref == "A-1"


def test_the_same_request_answers_with_the_same_replacement_and_a_foreign_use_of_its_id_with_nothing() -> None:
    original = settled.unknown(lives.a_place())
    asked = settled.wish(original)
    first = create_replacement(asked, using="api")
    assert isinstance(first, Created)
    assert isinstance(create_replacement(asked, using="api"), Repeated)
    assert create_replacement(replace(asked, decided_by="user:eve"), using="api") == IdReused()


# Correction and replacement, in both orders


@pytest.mark.parametrize("building", [False, True])
def test_a_correction_that_commits_first_refuses_the_replacements_cutoff_2_with_nothing_sent(*, building: bool) -> None:
    place = lives.a_place()
    original = _reconciled_to_failed(place)
    job = created(original)
    if building:
        lives.claim(job, place)
    lives.append(original, Acknowledged(Bound.ATTEMPT))
    _complete_directly(original)
    if not building:
        lives.claim(job, place)
    running = lives.now(job.id)
    assert lives.authorize(running, place) is Authorization.ORIGINAL_COMPLETED
    ended = fail(running, FailureReason.ORIGINAL_DELIVERED)
    assert (ended.status, ended.delivery_authorized_at) == (Status.FAILED, None)


def _complete_directly(original: ExportJob) -> None:
    """Correct by the statement alone; what the action asks before is another test's."""
    with session("reconciliation") as correcting:
        assert run(correcting, "correct", **_correction(original))


@pytest.mark.parametrize("by", ["reconcile", "acknowledgment rule"])
def test_it_is_refused_alike_when_a_reconcile_or_the_acknowledgment_rule_completed_the_original(by: str) -> None:
    place = lives.a_place()
    original = settled.unknown(place)
    job = replacement_running(original, place)
    alias = "reconciliation" if by == "reconcile" else "acknowledger"
    with session(alias) as settling:
        settling.execute("BEGIN")
        settling.execute("UPDATE export_jobs SET status = 'Completed' WHERE id = %s", [original.id])
        settling.execute(
            "INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, recorded_at)"
            " VALUES (%s, %s, 'Reconciled', %s, clock_timestamp())",
            [original.id, original.attempt_id, by],
        )
        settling.execute("COMMIT")
    assert lives.authorize(job, place) is Authorization.ORIGINAL_COMPLETED


def test_a_cutoff_2_waits_for_an_open_correction_and_is_refused_when_it_commits() -> None:
    place = lives.a_place()
    original = _reconciled_to_failed(place)
    job = replacement_running(original, place)
    with session("reconciliation") as correcting:
        correcting.execute("BEGIN")
        run(correcting, "correct", **_correction(original))
        authorizing = Background(lambda: lives.authorize(job, place))
        wait_until_blocked_by(correcting)
        correcting.execute("COMMIT")
    assert authorizing.result() is Authorization.ORIGINAL_COMPLETED


def test_a_cutoff_2_that_commits_first_makes_the_correction_wait_and_then_succeed() -> None:
    place = lives.a_place()
    original = _reconciled_to_failed(place)
    job = replacement_running(original, place)
    with session("worker") as authorizing:
        authorizing.execute("BEGIN")
        words = run(
            authorizing,
            "authorize_delivery",
            job_id=job.id,
            attempt_id=job.attempt_id,
            final_name=place.final_name(job),
            file_rows=1,
            file_bytes=1,
            file_sha256=b"x",
        )
        assert words == [("Authorized",)]
        correcting = Background(lambda: _complete_directly(original))
        wait_until_blocked_by(authorizing)
        authorizing.execute("COMMIT")
    correcting.result()
    assert lives.now(original.id).status == Status.COMPLETED
    assert lives.now(job.id).status == Status.DELIVERING


def test_correcting_a_replacement_to_completed_while_another_holds_the_slot_names_that_one() -> None:
    acknowledgment = Acknowledgment(kind=AcknowledgmentKind.FILE_APPEARS, suffix=".ack")
    place = lives.a_place(verification=Verification(acknowledgment=acknowledgment))
    original = _reconciled_to_failed(place)
    job = replacement_running(original, place)
    lives.authorize(job, place)
    failed = fail_delivery(lives.now(job.id), FailureReason.NOT_DELIVERED)
    live = created(original)
    lives.append(failed, Acknowledged(Bound.ATTEMPT))
    assert settled.correct(failed, Status.COMPLETED) == ReplacementInProgress(live.id)
    _cancel(live)
    assert settled.correct(failed, Status.COMPLETED) == Corrected(Status.COMPLETED)


def _cancel(job: ExportJob) -> None:
    click = Click(tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by=settled.RUTH)
    assert isinstance(request_cancellation(click, using="api"), Recorded)
