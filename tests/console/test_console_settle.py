"""Settling, correcting and adding evidence: the case side by side, and what a decision sets free or blocks."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from exports import evidence as seen
from exports.actions.create_replacement import Created
from exports.contracts import Acknowledgment, AcknowledgmentKind, Verification
from exports.models import ExportAttemptEvent, ExportJob
from exports.states import EventKind, FailureReason, Status
from reconciliation.actions.reconcile_outcome import Reconciled
from reconciliation.managers import Takeovers
from tests.console.pages import confirm, fields_of, fill, offered, one_of, text_of
from tests.people import a_tenant
from tests.recovery import lives
from tests.recovery.sessions import session
from tests.settling import settled

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.recovery.lives import Place
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

DELIVERED = {"resolution": "Completed", "evidence_ref": "ticket 7", "reason": "the partner found the file"}
AGAINST = {**DELIVERED, "why_against": "I saw it there myself"}
WRONG = {"evidence_ref": "ticket 9", "reason": "the partner never had it"}


def page_of(job: ExportJob, verb: str = "reconcile") -> str:
    return f"/admin/exports/exportjob/{job.id}/{verb}/"


@pytest.fixture
def place(tenant: Tenant) -> Place:
    return lives.a_place(tenant=tenant)


@pytest.fixture
def staff(tenant: Tenant) -> RoleClient:
    return one_of("Reconciliation staff", tenant, username="rita")


def unknown(place: Place, *records: seen.Evidence) -> ExportJob:
    job = lives.delivering(place)
    for record in records:
        lives.append(job, record)
    return lives.finish(job, Status.OUTCOME_UNKNOWN)


def delivered(place: Place) -> ExportJob:
    return lives.finish(lives.delivering(place))


def now(job: ExportJob) -> ExportJob:
    return lives.now(job.id)


def replacement_of(job: ExportJob) -> ExportJob:
    made = settled.replacement(job)
    assert isinstance(made, Created)
    return made.job


def sides(answer: Any) -> dict[str, str]:
    """Return what stands in each of the three columns of evidence."""
    told = text_of(answer)
    _, _, rest = told.partition("Speaks for delivery ")
    first, _, rest = rest.partition(" Speaks against it ")
    second, _, rest = rest.partition(" Leaves it open ")
    return {"for": first, "against": second, "open": rest.partition(" Everything that happened")[0]}


def test_the_evidence_stands_side_by_side_with_what_it_proves(staff: RoleClient, place: Place) -> None:
    job = unknown(
        place,
        seen.Baseline(seen.Absent()),
        seen.PublishSent(seen.PublishForm.LINK, ".part", "final"),
        seen.PublishAnswered(seen.NoReply(seen.Trouble.TIMEOUT)),
        seen.ReadBack(seen.Present(len(lives.CONTENT), lives.SHA256.hex())),
        seen.ProbeSighting(seen.Absent(), "recovery"),
    )

    answer = staff.get(page_of(job))

    found = sides(answer)
    assert "Afterwards, the final name showed: a file of" in found["for"]
    assert "Looked again by recovery; the final name showed: no such file." in found["against"]
    assert "no answer came, so anything may have happened" in found["open"]
    told = text_of(answer)
    assert "What it proves Delivered : " in told
    assert lives.SHA256.hex() in told


def test_what_either_decision_sets_free_or_blocks_is_said(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    waiting = replacement_of(job)

    told = text_of(staff.get(page_of(job)))

    assert "Nobody can send this export again any more." in told
    assert f"The replacement {waiting.id} waits now. It will be refused before its delivery is authorized" in told
    assert "It may be sent again: an approver can create a replacement." in told


def test_a_decision_that_the_evidence_proves_is_recorded_once_with_who_and_why(staff: RoleClient, place: Place) -> None:
    job = unknown(
        place,
        seen.Baseline(seen.Absent()),
        seen.PublishSent(seen.PublishForm.LINK, ".part", "final"),
        seen.PublishAnswered(seen.NoReply(seen.Trouble.TIMEOUT)),
        seen.ReadBack(seen.Present(len(lives.CONTENT), lives.SHA256.hex())),
    )

    answer = confirm(staff, page_of(job), **DELIVERED)

    assert answer["Location"] == f"/admin/exports/exportjob/{job.id}/change/"
    assert now(job).status == Status.COMPLETED
    event = ExportAttemptEvent.objects.get(job_id=job.id, kind=EventKind.RECONCILED)
    assert event.observed_by == "user:rita"
    assert str(event.detail).startswith("Completed: ticket 7; the partner found the file [proposed: Completed")


def test_deciding_where_the_evidence_proves_nothing_takes_a_reason(staff: RoleClient, place: Place) -> None:
    job = unknown(place)

    answer = fill(staff, page_of(job), **DELIVERED)

    assert answer.status_code == 400
    assert "The evidence proves neither. Say why you decide this." in text_of(answer)
    assert 'href="#id_why_against"' in answer.content.decode()
    assert now(job).status == Status.OUTCOME_UNKNOWN
    assert confirm(staff, page_of(job), **AGAINST).status_code == 302
    assert now(job).status == Status.COMPLETED


def test_evidence_that_came_while_the_page_was_open_is_answered_for(staff: RoleClient, place: Place) -> None:
    job = unknown(
        place,
        seen.Baseline(seen.Absent()),
        seen.PublishSent(seen.PublishForm.LINK, ".part", "final"),
        seen.PublishAnswered(seen.NoReply(seen.Trouble.TIMEOUT)),
        seen.ReadBack(seen.Present(len(lives.CONTENT), lives.SHA256.hex())),
    )
    checked = fill(staff, page_of(job), **DELIVERED)

    lives.append(
        job,
        seen.ReadBack(seen.Present(7, "0" * 64)),
        seen.PartnerStatement(seen.Says.NOT_PUBLISHED, "mail", "user:bob", job.created_at),
    )

    answer = staff.post(page_of(job), {**fields_of(checked), "confirmed": "yes"})
    assert answer.status_code == 400
    assert "Say why you decide" in text_of(answer)
    assert now(job).status == Status.OUTCOME_UNKNOWN


def test_whoever_comes_second_is_told_who_settled_it_when_and_how(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    checked = fill(staff, page_of(job), **AGAINST)
    assert settled.reconcile(job, Status.FAILED) == Reconciled(Status.FAILED)

    answer = staff.post(page_of(job), {**fields_of(checked), "confirmed": "yes"})

    assert answer.status_code == 409
    told = text_of(answer)
    assert "There is nothing to settle here: it is Failed." in told
    assert "user:rosa just now" in told
    assert "Failed: ticket 7; the partner confirmed it by telephone" in told
    assert "Nothing was recorded by you." in told
    assert "There is nothing to settle here: it is Failed." in text_of(staff.get(page_of(job)))


def test_the_second_of_a_double_click_is_told_the_same(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    checked = fill(staff, page_of(job), **AGAINST)
    sent = {**fields_of(checked), "confirmed": "yes"}

    first, second = (staff.post(page_of(job), sent) for _ in range(2))

    assert first.status_code == 302
    assert second.status_code == 409
    assert "user:rita just now" in text_of(second)
    assert ExportAttemptEvent.objects.filter(job_id=job.id, kind=EventKind.RECONCILED).count() == 1


def test_a_replacement_that_found_its_originals_file_leads_to_the_original_first(
    staff: RoleClient, place: Place
) -> None:
    original = unknown(place)
    replacement = replacement_of(original)
    lives.claim(replacement, place)
    lives.authorize(now(replacement), place)
    held = now(replacement)
    lives.append(held, seen.Baseline(seen.Present(len(lives.CONTENT), lives.SHA256.hex())))
    lives.finish(held, Status.OUTCOME_UNKNOWN)

    page = staff.get(page_of(replacement))
    sent = {"attempt_id": str(held.attempt_id), **AGAINST, "confirmed": "yes"}
    answer = staff.post(page_of(replacement), sent)

    for shown in (page, answer):
        assert "The file that was found is the original's. Its record is settled first." in text_of(shown)
        assert page_of(original) in shown.content.decode()
    assert answer.status_code == 409
    assert now(replacement).status == Status.OUTCOME_UNKNOWN


def test_a_record_is_corrected_to_failed_and_the_page_shows_what_it_sets_free(staff: RoleClient, place: Place) -> None:
    job = delivered(place)
    page = staff.get(page_of(job, "correct"))
    assert offered(page, "failure_reason") == ["NotDelivered"]
    assert "It may be sent again: an approver can create a replacement." in text_of(page)

    answer = confirm(staff, page_of(job, "correct"), failure_reason="NotDelivered", **WRONG)

    assert answer.status_code == 302
    assert (now(job).status, now(job).failure_reason) == (Status.FAILED, FailureReason.NOT_DELIVERED)
    event = ExportAttemptEvent.objects.get(job_id=job.id, kind=EventKind.CORRECTED)
    assert (event.observed_by, event.detail) == (
        "user:rita",
        "Completed to Failed: ticket 9; the partner never had it",
    )
    told = text_of(staff.get(page_of(job, "correct")))
    assert "It has been corrected already: it is Failed." in told
    assert "An attempt's record is corrected once." in told


def failed(place: Place) -> ExportJob:
    """Return an export that somebody has settled as not delivered."""
    job = unknown(place)
    assert settled.reconcile(job, Status.FAILED) == Reconciled(Status.FAILED)
    return now(job)


def prove(job: ExportJob) -> None:
    """Let late evidence identify the file."""
    lives.append(job, seen.ProbeSighting(seen.Present(len(lives.CONTENT), lives.SHA256.hex()), "somebody"))
    lives.append(
        job,
        seen.PartnerStatement(
            seen.Says.PUBLISHED, "mail", "user:bob", job.created_at, len(lives.CONTENT), lives.SHA256.hex()
        ),
    )


def test_a_correction_to_completed_shows_that_a_queued_replacement_will_be_refused(
    staff: RoleClient, place: Place
) -> None:
    job = failed(place)
    waiting = replacement_of(job)
    prove(job)
    with session("default") as holder:  # somebody holds both rows: the form reads without a lock
        holder.execute("BEGIN")
        holder.execute("SELECT FROM export_jobs WHERE id = ANY(%s) FOR UPDATE", [[job.id, waiting.id]])
        page = staff.get(page_of(job, "correct"))
        holder.execute("ROLLBACK")

    assert f"The replacement {waiting.id} waits now. It will be refused before" in text_of(page)
    assert "failure_reason" not in fields_of(page)
    assert confirm(staff, page_of(job, "correct"), **WRONG).status_code == 302
    assert now(job).status == Status.COMPLETED


def test_a_correction_to_completed_without_proof_is_refused_and_leads_to_evidence(
    staff: RoleClient, place: Place
) -> None:
    job = failed(place)
    checked = fill(staff, page_of(job, "correct"), **WRONG)

    answer = staff.post(page_of(job, "correct"), {**fields_of(checked), "confirmed": "yes"})

    assert answer.status_code == 409
    assert "The evidence does not identify the file" in text_of(answer)
    assert page_of(job, "evidence") in answer.content.decode()
    assert now(job).status == Status.FAILED


def test_another_replacement_in_the_one_place_is_named_with_the_way_to_cancel_it(
    staff: RoleClient, tenant: Tenant
) -> None:
    acknowledgment = Acknowledgment(kind=AcknowledgmentKind.FILE_APPEARS, suffix=".ack")
    place = lives.a_place(tenant=tenant, verification=Verification(acknowledgment=acknowledgment))
    original = failed(place)
    first = replacement_of(original)
    lives.claim(first, place)
    lives.authorize(now(first), place)
    lives.finish(now(first), Status.OUTCOME_UNKNOWN)
    assert settled.reconcile(now(first), Status.FAILED) == Reconciled(Status.FAILED)
    second = replacement_of(original)
    lives.append(now(first), seen.Acknowledged(seen.Bound.ATTEMPT))
    checked = fill(staff, page_of(first, "correct"), **WRONG)

    answer = staff.post(page_of(first, "correct"), {**fields_of(checked), "confirmed": "yes"})

    assert answer.status_code == 409
    assert "Another replacement holds the original's one place." in text_of(answer)
    assert page_of(second, "cancel") in answer.content.decode()
    assert now(first).status == Status.FAILED


def test_a_replacement_may_be_corrected_to_its_originals_delivery(staff: RoleClient, place: Place) -> None:
    original = failed(place)
    replacement = replacement_of(original)
    lives.claim(replacement, place)
    lives.authorize(now(replacement), place)
    lives.finish(now(replacement))

    page = staff.get(page_of(replacement, "correct"))
    assert offered(page, "failure_reason") == ["NotDelivered", "OriginalDelivered"]
    confirm(staff, page_of(replacement, "correct"), failure_reason="OriginalDelivered", **WRONG)

    assert now(replacement).failure_reason == FailureReason.ORIGINAL_DELIVERED


def test_whoever_settled_it_does_not_correct_it(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    confirm(staff, page_of(job), **AGAINST)
    checked = fill(staff, page_of(job, "correct"), failure_reason="NotDelivered", **WRONG)

    answer = staff.post(page_of(job, "correct"), {**fields_of(checked), "confirmed": "yes"})

    assert answer.status_code == 409
    assert "You settled this attempt yourself. Somebody else has to correct it." in text_of(answer)
    assert now(job).status == Status.COMPLETED


def test_a_record_that_moved_meanwhile_is_not_corrected(staff: RoleClient, place: Place) -> None:
    job = delivered(place)
    checked = fill(staff, page_of(job, "correct"), failure_reason="NotDelivered", **WRONG)
    settled.correct(job)

    answer = staff.post(page_of(job, "correct"), {**fields_of(checked), "confirmed": "yes"})

    assert answer.status_code == 409
    assert "It has been corrected already: it is Failed." in text_of(answer)
    assert "user:rudi just now" in text_of(answer)


def test_what_is_no_record_of_a_delivery_is_not_corrected(staff: RoleClient, place: Place) -> None:
    told = {
        lives.running(place): "It is Running. Only Completed and Failed are corrected.",
        unknown(place): "It is OutcomeUnknown. Only Completed and Failed are corrected.",
    }

    for job, sentence in told.items():
        assert sentence in text_of(staff.get(page_of(job, "correct")))


@pytest.mark.parametrize("verb", ["reconcile", "correct"])
def test_a_form_that_lost_the_attempt_it_was_about_does_nothing(staff: RoleClient, place: Place, verb: str) -> None:
    job = unknown(place) if verb == "reconcile" else delivered(place)

    answer = staff.post(page_of(job, verb), {**AGAINST, "confirmed": "yes"})

    assert answer.status_code == 400
    assert "This page has lost a part of itself." in text_of(answer)
    assert now(job).status == job.status


STATEMENT = {"says": "published", "reference": "mail of 3 May", "observed_at": "2020-05-03T10:00"}


def test_a_partners_statement_is_kept_with_who_when_and_the_file_it_describes(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    described = {"size": str(len(lives.CONTENT)), "sha256": lives.SHA256.hex().upper(), "note": "by telephone"}

    answer = confirm(staff, f"{page_of(job, 'evidence')}?kind=statement", **STATEMENT, **described)

    assert answer["Location"] == page_of(job)
    event = ExportAttemptEvent.objects.filter(job_id=job.id, kind=EventKind.DELIVERY_EVIDENCE).latest("id")
    record = seen.decode(event.detail)
    assert isinstance(record, seen.PartnerStatement)
    assert (record.says, record.observed_by, record.size) == (seen.Says.PUBLISHED, "user:rita", len(lives.CONTENT))
    assert (record.sha256, record.reference, record.note) == (lives.SHA256.hex(), "mail of 3 May", "by telephone")
    assert (event.attempt_id, now(job).status) == (job.attempt_id, Status.OUTCOME_UNKNOWN)
    assert "The partner said the file is there (mail of 3 May)" in sides(staff.get(page_of(job)))["for"]


@pytest.mark.parametrize(("kind", "record"), [("revoked", seen.AccessRevoked), ("document", seen.Document)])
def test_the_other_kinds_are_kept_too(staff: RoleClient, place: Place, kind: str, record: type) -> None:
    job = delivered(place)
    filled = {"reference": "ticket 3", "observed_at": "2020-05-03T10:00"}

    answer = confirm(staff, f"{page_of(job, 'evidence')}?kind={kind}", **filled)

    assert answer["Location"] == page_of(job, "change")
    event = ExportAttemptEvent.objects.filter(job_id=job.id).latest("id")
    assert isinstance(seen.decode(event.detail), record)
    assert now(job).status == Status.COMPLETED


def test_evidence_of_an_earlier_attempt_can_be_added(staff: RoleClient, place: Place) -> None:
    job = lives.running(place)
    first = lives.attempt_of(job)
    lives.expire(job)
    Takeovers("worker").requeue(job_id=job.id, expired_attempt_id=first, max_attempts=5, recovery_run_id="r")
    lives.claim(now(job), place)
    page = f"{page_of(job, 'evidence')}?kind=statement"

    assert offered(staff.get(page), "attempt_id") == [str(now(job).attempt_id), str(first)]
    confirm(staff, page, **STATEMENT, attempt_id=str(first))

    assert ExportAttemptEvent.objects.filter(job_id=job.id).latest("id").attempt_id == first


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"says": ""}, "Choose what the partner said."),
        ({"sha256": "abc"}, "A SHA-256 has 64 characters"),
        ({"size": "-1"}, "greater than or equal to 0"),
        ({"observed_at": "2999-01-01T00:00"}, "This time is yet to come."),
        ({"attempt_id": "7"}, "Select a valid choice."),
        ({"reference": ""}, "“Reference” is missing."),
    ],
)
def test_evidence_that_is_wrong_is_not_added(
    staff: RoleClient, place: Place, changed: dict[str, str], words: str
) -> None:
    job = unknown(place)
    before = ExportAttemptEvent.objects.count()

    answer = fill(staff, f"{page_of(job, 'evidence')}?kind=statement", **{**STATEMENT, **changed})

    assert answer.status_code == 400
    assert words in text_of(answer)
    assert ExportAttemptEvent.objects.count() == before


def test_evidence_sent_twice_is_added_once(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    page = f"{page_of(job, 'evidence')}?kind=statement"
    sent = {**fields_of(fill(staff, page, **STATEMENT)), "confirmed": "yes"}

    answers = [staff.post(page, sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    details = ExportAttemptEvent.objects.filter(job_id=job.id).values_list("detail", flat=True)
    assert sum("partner_statement" in str(detail) for detail in details) == 1


def test_without_an_attempt_nothing_can_be_said(staff: RoleClient, place: Place) -> None:
    told = text_of(staff.get(page_of(lives.queued(place), "evidence")))

    assert "No worker has ever taken this export" in told


def test_the_export_offers_what_makes_sense(staff: RoleClient, operator: RoleClient, place: Place) -> None:
    offers = {
        lives.queued(place): set(),
        lives.delivering(place): {"evidence"},
        unknown(place): {"reconcile", "evidence"},
        delivered(place): {"correct", "evidence"},
    }

    for job, expected in offers.items():
        page = staff.get(page_of(job, "change")).content.decode()
        found = {verb for verb in ("reconcile", "correct", "evidence") if page_of(job, verb) in page}
        assert found == expected, job.status
        assert page_of(job, "reconcile") not in operator.get(page_of(job, "change")).content.decode()


@pytest.mark.parametrize("group", ["Export viewers", "Export operators", "Export administrators"])
def test_nobody_else_settles_corrects_or_adds_evidence(tenant: Tenant, place: Place, group: str) -> None:
    job = unknown(place)
    sent = {"attempt_id": str(job.attempt_id), **AGAINST, "confirmed": "yes"}
    foreign = one_of("Reconciliation staff", a_tenant())

    for verb in ("reconcile", "correct", "evidence"):
        assert one_of(group, tenant).post(page_of(job, verb), sent).status_code == 403
        assert foreign.post(page_of(job, verb), sent).status_code == 404
    assert now(job).status == Status.OUTCOME_UNKNOWN


def test_the_screens_write_as_the_reconcilers_login_alone(staff: RoleClient, place: Place, settings: Any) -> None:
    job = unknown(place)
    settings.EXPORTS = replace(settings.EXPORTS, allow_same_person_correction=True)
    with session("default") as watcher:
        watcher.execute(
            "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS"
            " $$ BEGIN IF NEW.kind = 'Reconciled' AND current_user <> 'exports_reconciler'"
            " THEN RAISE EXCEPTION 'wrong login %', current_user; END IF; RETURN NEW; END $$"
        )
        watcher.execute(
            "CREATE TRIGGER tell BEFORE INSERT ON export_attempt_events FOR EACH ROW EXECUTE FUNCTION tell()"
        )
        try:
            answer = confirm(staff, page_of(job), **AGAINST)
        finally:
            watcher.execute("DROP TRIGGER tell ON export_attempt_events")
            watcher.execute("DROP FUNCTION tell()")
    assert answer.status_code == 302


NAMES = """
import django; django.setup()
from django.contrib import admin
admin.site.urls
from exports.admin.verbs import verbs
print(" ".join(verb.name for verb in verbs()))
"""


@pytest.mark.parametrize("has_login", [True, False])
def test_without_the_reconcilers_login_the_screens_do_not_exist(*, has_login: bool) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.local", "EXPORT_ROLE": "api"}
    if not has_login:
        del environment["RECONCILIATION_DATABASE_URL"]
    done = subprocess.run(
        [sys.executable, "-c", NAMES],
        env=environment,
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    names = set(done.stdout.split())
    assert {"cancel", "terms", "replace"} <= names
    assert names.isdisjoint({"reconcile", "correct", "evidence"}) is not has_login
