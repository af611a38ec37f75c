"""The worklist: what waits for a person, oldest first, with what is missing, and nothing that does not wait."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports import evidence as seen
from exports.admin.weighing import Side, weigh
from exports.admin.worklist import lacks
from exports.holds.opening import hold_guarded
from exports.models import ExportJob, Hold
from exports.states import FailureReason, Status
from reconciliation.actions.add_evidence import Added, add_evidence
from reconciliation.actions.correct_outcome import Corrected
from reconciliation.actions.reconcile_outcome import Reconciled
from reconciliation.managers import Takeovers
from tests.console.pages import one_of, signed_in, text_of
from tests.people import a_destination, a_person, a_tenant
from tests.recovery import lives
from tests.settling import settled

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.recovery.lives import Place
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

WORKLIST = "/admin/worklist/"


@pytest.fixture
def place(tenant: Tenant) -> Place:
    return lives.a_place(tenant=tenant)


@pytest.fixture
def staff(tenant: Tenant) -> RoleClient:
    return one_of("Reconciliation staff", tenant, username="rita")


def listed(browser: RoleClient) -> list[str]:
    page = browser.get(WORKLIST).content.decode()
    return re.findall(r'<a class="id" href="/admin/exports/exportjob/([0-9a-f-]{36})/change/', page)


def unknown(place: Place) -> ExportJob:
    return settled.unknown(place)


def occupied(place: Place) -> ExportJob:
    job = lives.running(place)
    written = ExportJob.objects.db_manager("worker").finish_failed(
        job_id=job.id,
        attempt_id=lives.attempt_of(job),
        worker_id="w",
        reason=FailureReason.FINAL_NAME_OCCUPIED,
        detail=None,
    )
    assert written == "Applied"
    return lives.now(job.id)


def swept(place: Place, times: int) -> ExportJob:
    job = lives.queued(place)
    for _ in range(times):
        lives.age(job, seconds=10_000)
        ExportJob.objects.db_manager("worker").sweep(sweep_after_seconds=1_000, batch=10)
    return lives.now(job.id)


def guarded(place: Place) -> ExportJob:
    job = lives.queued(place)
    hold_guarded(job, "The file has no contacts.", "worker-1", "worker")
    return job


def document(job: ExportJob, **changes: object) -> None:
    attempt = changes.pop("attempt_id", None) or lives.attempt_of(job)
    record = seen.Document("ticket 5", "user:rita", job.created_at, "looked at")
    assert add_evidence(job.tenant_id, job.id, attempt, record) is Added.ADDED  # type: ignore[arg-type] # a uuid


def test_everything_that_waits_is_listed_oldest_first_and_nothing_else(staff: RoleClient, place: Place) -> None:
    first, second, third, fourth = unknown(place), occupied(place), swept(place, 4), guarded(place)
    lives.queued(place), swept(place, 3), lives.running(place), lives.finish(lives.delivering(place))

    assert listed(staff) == [str(job.id) for job in (first, second, third, fourth)]


def test_each_says_why_it_waits_what_is_missing_and_what_can_be_done(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    lives.append(job, seen.PublishAnswered(seen.Accepted()))
    occupied(place), swept(place, 4), guarded(place)

    told = text_of(staff.get(WORKLIST))

    assert "Not known whether it was delivered. Missing: A look at the final name since. A word from the partner." in (
        told
    )
    assert "The final name was taken by something that is not known to be this export." in told
    assert "The sweeper has woken it 4 times, and it has not started." in told
    assert "Its file looked wrong, so it was not sent. Missing: The file has no contacts." in told
    assert "Settle the outcome…" in told


def test_what_can_be_done_is_what_this_person_may_do(
    staff: RoleClient, operator: RoleClient, viewer: RoleClient, place: Place
) -> None:
    settle, release = unknown(place), guarded(place)
    hold = Hold.objects.get(job_id=release.id)
    doors = {
        f"/admin/exports/exportjob/{settle.id}/reconcile/": {"staff"},
        f"/admin/exports/hold/{hold.id}/end/": {"operator"},
        f"/admin/exports/exportjob/{release.id}/cancel/": {"operator"},
    }
    browsers = {"staff": staff, "operator": operator, "viewer": viewer}

    for door, may in doors.items():
        shown = {name for name, browser in browsers.items() if door in browser.get(WORKLIST).content.decode()}
        assert shown == may, door


def test_a_late_receipt_from_a_superseded_attempt_appears_and_changes_nothing_else(
    staff: RoleClient, place: Place
) -> None:
    job = lives.running(place)
    first = lives.attempt_of(job)
    lives.expire(job)
    Takeovers("worker").requeue(job_id=job.id, expired_attempt_id=first, max_attempts=5, recovery_run_id="r")
    lives.claim(lives.now(job.id), place)
    before = lives.now(job.id)
    assert listed(staff) == []

    lives.append(before, seen.Acknowledged(seen.Bound.ATTEMPT), attempt_id=first)

    assert listed(staff) == [str(job.id)]
    assert "Late evidence speaks against what is recorded (Running)." in text_of(staff.get(WORKLIST))
    after = lives.now(job.id)
    assert (after.status, after.attempt_id) == (before.status, before.attempt_id)


def test_late_evidence_that_contradicts_a_record_appears_until_it_is_answered(staff: RoleClient, place: Place) -> None:
    failed, completed = unknown(place), lives.finish(lives.delivering(place))
    settled.reconcile(failed, Status.FAILED)
    assert listed(staff) == []

    lives.append(failed, seen.ProbeSighting(seen.Present(len(lives.CONTENT), lives.SHA256.hex())))
    statement = seen.PartnerStatement(seen.Says.NOT_PUBLISHED, "mail", "user:rita", completed.created_at)
    add_evidence(completed.tenant_id, completed.id, lives.attempt_of(completed), statement)

    assert listed(staff) == [str(failed.id), str(completed.id)]
    document(failed)
    assert settled.correct(completed) == Corrected(Status.FAILED)
    assert listed(staff) == []


def test_late_evidence_that_agrees_or_only_says_the_file_is_gone_is_no_contradiction(
    staff: RoleClient, place: Place
) -> None:
    job = lives.finish(lives.delivering(place))

    lives.append(job, seen.ProbeSighting(seen.Absent()), seen.Acknowledged(seen.Bound.ATTEMPT))

    assert listed(staff) == []


def test_evidence_that_came_before_the_decision_is_no_late_evidence(staff: RoleClient, place: Place) -> None:
    job = unknown(place)
    statement = seen.PartnerStatement(seen.Says.PUBLISHED, "mail", "user:rita", job.created_at)
    add_evidence(job.tenant_id, job.id, lives.attempt_of(job), statement)

    assert settled.reconcile(job, Status.FAILED) == Reconciled(Status.FAILED)

    assert listed(staff) == []


def test_a_taken_name_leaves_the_list_once_somebody_has_looked(staff: RoleClient, place: Place) -> None:
    job = occupied(place)
    assert listed(staff) == [str(job.id)]

    document(job)

    assert listed(staff) == []


def test_a_guards_hold_on_an_earlier_version_waits_for_nobody(staff: RoleClient, place: Place) -> None:
    job = guarded(place)
    elsewhere = a_destination(place.tenant)
    ExportJob.objects.db_manager("api").change_terms(
        tenant_id=job.tenant_id,
        job_id=job.id,
        destination_id=elsewhere.id,
        expected_version=1,
        changed_by="user:ann",
        reason=None,
    )

    assert listed(staff) == []


def test_nothing_of_another_tenant_is_listed(staff: RoleClient, place: Place) -> None:
    foreign = lives.a_place(tenant=a_tenant())
    unknown(foreign), occupied(foreign), swept(foreign, 4), guarded(foreign)
    superseded = lives.finish(lives.delivering(foreign))
    lives.append(superseded, seen.Acknowledged(seen.Bound.ATTEMPT, positive=False))
    own = unknown(place)

    assert listed(staff) == [str(own.id)]


def test_an_empty_list_says_what_would_appear_in_it(staff: RoleClient) -> None:
    assert "Nothing waits for a person. Unknown outcomes, taken final names" in text_of(staff.get(WORKLIST))


def test_the_header_leads_to_it(staff: RoleClient) -> None:
    assert f'<a href="{WORKLIST}">Worklist</a>' in staff.get("/admin/").content.decode()
    assert f'<a href="{WORKLIST}" aria-current="page">' in staff.get(WORKLIST).content.decode()


def test_it_is_refreshed_by_its_lines_alone(staff: RoleClient, place: Place) -> None:
    job = unknown(place)

    part = staff.get(WORKLIST, headers={"X-Part": "lines"}).content.decode()

    assert str(job.id) in part
    assert "<html" not in part


def test_without_the_permission_it_is_closed(tenant: Tenant) -> None:
    assert signed_in(a_person(tenant)).get(WORKLIST).status_code == 403


def test_a_longer_list_asks_the_database_no_more_questions(staff: RoleClient, place: Place) -> None:
    counts = []
    staff.get(WORKLIST)
    for more in (1, 6):
        for _ in range(more):
            unknown(place), occupied(place), guarded(place)
            job = lives.finish(lives.delivering(place))
            lives.append(job, seen.Acknowledged(seen.Bound.ATTEMPT, positive=False))
        with CaptureQueriesContext(connections["api"]) as asked:
            staff.get(WORKLIST)
        counts.append(len(asked))

    assert counts[0] == counts[1]


OURS = seen.ExpectedFile("contacts-x.csv", 25, "a" * 64)


@pytest.mark.parametrize(
    ("record", "side"),
    [
        (seen.PublishAnswered(seen.Accepted()), Side.FOR),
        (seen.PublishAnswered(seen.Refused(4)), Side.AGAINST),
        (seen.PublishAnswered(seen.NoReply(seen.Trouble.TIMEOUT)), Side.OPEN),
        (seen.ReadBack(seen.Present(25, "A" * 64)), Side.FOR),
        (seen.ReadBack(seen.Present(25)), Side.FOR),
        (seen.ReadBack(seen.Present(25, "b" * 64)), Side.AGAINST),
        (seen.ReadBack(seen.Present(24)), Side.AGAINST),
        (seen.ReadBack(seen.Present(25, regular=False)), Side.AGAINST),
        (seen.ReadBack(seen.Present(None)), Side.OPEN),
        (seen.ProbeSighting(seen.Absent()), Side.AGAINST),
        (seen.ProbeSighting(seen.Forbidden()), Side.OPEN),
        (seen.ProbeSighting(seen.Unanswered(seen.Trouble.TIMEOUT)), Side.OPEN),
        (seen.Acknowledged(seen.Bound.ATTEMPT), Side.FOR),
        (seen.Acknowledged(seen.Bound.ATTEMPT, positive=False), Side.AGAINST),
        (seen.Acknowledged(seen.Bound.KEY), Side.OPEN),
        (seen.UploadFailed(seen.Phase.WRITE, seen.Trouble.TIMEOUT), Side.AGAINST),
        (seen.NotSent(seen.NotSentReason.OCCUPIED), Side.AGAINST),
        (seen.Outcome(seen.Conclusion.COMPLETED, seen.Proof.HASH), Side.FOR),
        (seen.Outcome(seen.Conclusion.NOT_DELIVERED, seen.Proof.NEVER_SENT), Side.AGAINST),
        (seen.Outcome(seen.Conclusion.OUTCOME_UNKNOWN, seen.Proof.NONE), Side.OPEN),
        (seen.Baseline(seen.Absent()), Side.OPEN),
        (seen.Unreadable("no JSON"), Side.OPEN),
    ],
)
def test_a_record_is_on_the_side_that_it_speaks_for(record: seen.Evidence, side: Side) -> None:
    assert weigh(record, OURS) is side


def test_without_a_file_of_ours_nothing_that_is_there_speaks_for_it() -> None:
    assert weigh(seen.ReadBack(seen.Present(25, "a" * 64)), None) is Side.AGAINST


def test_what_is_missing_is_what_nobody_has_looked_at_or_said() -> None:
    assert len(lacks(())) == 3
    assert lacks((seen.PublishAnswered(seen.NoReply(seen.Trouble.TIMEOUT)),)) == lacks(())
    assert lacks((seen.ReadBack(seen.Unanswered(seen.Trouble.TIMEOUT)),)) == lacks(())
    everything = (
        seen.PublishAnswered(seen.Refused(4)),
        seen.ReadBack(seen.Absent()),
        seen.Acknowledged(seen.Bound.KEY),
    )
    assert lacks(everything) == []
