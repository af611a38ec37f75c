"""The matrix rows "A changed request" and, for the terms, "Mapping checks": a test a sentence, in our own words."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports import crashpoints
from exports.actions.change_terms import (
    Changed,
    NoSuchExport,
    NotChanged,
    TermsAnswer,
    TermsBusy,
    TermsEdit,
    change_terms,
)
from exports.managers.queue import QueueStatements
from exports.models import ExportJob, OutboxMessage, TermsChange
from exports.sql import STATEMENTS
from exports.states import Status, Written
from tests.cancellation.clicking import a_click, submit
from tests.recovery.lives import (
    ALIASES,
    LEASE_SECONDS,
    Place,
    a_place,
    delivering,
    events_of,
    finish,
    now,
    queued,
    running,
    wake_ups_of,
)
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture
def place() -> Place:
    return a_place()


@pytest.fixture
def elsewhere(place: Place) -> Place:
    """Give another destination of the same tenant."""
    return a_place(tenant=place.tenant)


def an_edit(job: ExportJob, to: Place, **values: Any) -> TermsEdit:
    edit = TermsEdit(
        tenant_id=job.tenant_id,
        job_id=job.id,
        destination_id=to.destination.id,
        expected_version=job.version,
        changed_by="user:ann",
        reason="wrong partner",
    )
    return replace(edit, **values)


def submit_edit(edit: TermsEdit) -> TermsAnswer:
    return change_terms(edit, using="api")


def claim_version(job: ExportJob, place: Place, version: int) -> Written:
    return ExportJob.objects.db_manager("worker").claim(
        job_id=job.id,
        checked_version=version,
        attempt_id=uuid.uuid4(),
        worker_id="worker:test",
        contract_id=place.contract_id,
        lease_seconds=LEASE_SECONDS,
    )


def test_changing_the_destination_raises_the_version(place: Place, elsewhere: Place) -> None:
    """Changing the destination increments the version."""
    job = queued(place)

    assert submit_edit(an_edit(job, elsewhere)) == Changed(2)
    assert (now(job.id).version, now(job.id).destination_id) == (2, elsewhere.destination.id)


def test_a_worker_that_checked_the_old_terms_fails_its_claim_and_builds_nothing(place: Place, elsewhere: Place) -> None:
    """A worker that evaluated the old terms does not get the claim."""
    job = queued(place)
    submit_edit(an_edit(job, elsewhere))

    assert claim_version(job, place, version=job.version) is Written.REFUSED
    assert (now(job.id).status, events_of(job)) == (Status.QUEUED, [])


def test_the_edits_own_wake_up_brings_the_job_to_a_worker_that_evaluates_the_new_terms(
    place: Place, elsewhere: Place
) -> None:
    """The outbox row of the edit brings the job back."""
    job = queued(place)
    OutboxMessage.objects.filter(job_id=job.id).update(published_at=job.woken_at)
    submit_edit(an_edit(job, elsewhere))

    waiting = OutboxMessage.objects.filter(job_id=job.id, published_at=None)
    assert waiting.count() == 1
    assert len(set(wake_ups_of(job))) == 2
    assert claim_version(now(job.id), elsewhere, version=2) is Written.APPLIED


def test_who_changed_it_and_why_is_kept_with_both_destinations(place: Place, elsewhere: Place) -> None:
    job = queued(place)
    submit_edit(an_edit(job, elsewhere))

    change = TermsChange.objects.get()
    assert (change.job_id, change.version, change.changed_by, change.reason) == (job.id, 2, "user:ann", "wrong partner")
    assert (change.from_destination_id, change.to_destination_id) == (place.destination.id, elsewhere.destination.id)


def cancelled(place: Place) -> ExportJob:
    job = queued(place)
    submit(a_click(job))
    return now(job.id)


def edited(place: Place) -> ExportJob:
    job = queued(place)
    submit_edit(an_edit(job, a_place(tenant=place.tenant)))
    return job


@pytest.mark.parametrize("how", [running, cancelled, edited])
def test_an_export_that_started_ended_or_was_edited_is_not_changed_and_is_shown_as_it_is(
    place: Place, elsewhere: Place, how: Callable[[Place], ExportJob]
) -> None:
    job = how(place)
    before = now(job.id)

    answer = submit_edit(an_edit(job, elsewhere, expected_version=1))

    assert isinstance(answer, NotChanged)
    assert (answer.job.status, answer.job.version) == (before.status, before.version)
    assert now(job.id).destination_id == before.destination_id
    assert TermsChange.objects.filter(to_destination_id=elsewhere.destination.id).count() == 0


def disabled(place: Place) -> Place:
    target = a_place(tenant=place.tenant)
    target.destination.is_enabled = False
    target.destination.save()
    return target


def another_tenants(_: Place) -> Place:
    return a_place()


@pytest.mark.parametrize("target", [disabled, another_tenants])
def test_it_goes_only_to_an_enabled_destination_of_its_own_tenant(
    place: Place, target: Callable[[Place], Place]
) -> None:
    job = queued(place)

    assert isinstance(submit_edit(an_edit(job, target(place))), NotChanged)
    assert (now(job.id).destination_id, len(wake_ups_of(job))) == (place.destination.id, 1)


def test_a_replacement_is_never_moved_to_another_partner_with_the_old_key(place: Place, elsewhere: Place) -> None:
    original = finish(delivering(place), Status.OUTCOME_UNKNOWN)
    replacement = uuid.uuid4()
    ExportJob.objects.db_manager("api").create_replacement(
        job_id=replacement,
        tenant_id=original.tenant_id,
        original_job_id=original.id,
        created_by="user:ann",
        replacement_reason="lost",
        overwrite_agreement_ref=None,
    )

    assert isinstance(submit_edit(an_edit(now(replacement), elsewhere)), NotChanged)
    assert now(replacement).destination_id == place.destination.id


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's"])
def test_an_export_outside_the_tenant_does_not_exist(place: Place, elsewhere: Place, whose: str) -> None:
    job, foreign = queued(place), queued(a_place())
    asked_for = uuid.uuid4() if whose == "nobody's" else foreign.id

    assert submit_edit(an_edit(job, elsewhere, job_id=asked_for)) == NoSuchExport()
    assert now(foreign.id).version == 1


def test_an_edit_that_waits_for_a_claim_changes_nothing_once_that_commits(place: Place, elsewhere: Place) -> None:
    job = queued(place)
    with session("worker") as worker:
        with worker.transaction():
            _claim_in(worker, job, place)
            editing = Background(lambda: submit_edit(an_edit(job, elsewhere)))
            wait_until_blocked_by(worker)
        answer = editing.result()

    assert isinstance(answer, NotChanged)
    assert (now(job.id).status, now(job.id).version) == (Status.RUNNING, 1)


def _claim_in(worker: psycopg.Connection[Any], job: ExportJob, place: Place) -> None:
    run(
        worker,
        "claim",
        job_id=job.id,
        checked_version=1,
        attempt_id=job.id,
        worker_id="worker:test",
        contract_id=str(place.contract_id),
        lease_seconds=LEASE_SECONDS,
    )


def test_a_claim_that_waits_for_an_edit_finds_a_version_it_did_not_check(place: Place, elsewhere: Place) -> None:
    job = queued(place)
    with session("api") as api:
        with api.transaction():
            _edit_in(api, job, elsewhere)
            claiming = Background(lambda: claim_version(job, place, version=1))
            wait_until_blocked_by(api)
        assert claiming.result() is Written.REFUSED

    assert now(job.id).status == Status.QUEUED


def _edit_in(api: psycopg.Connection[Any], job: ExportJob, to: Place) -> None:
    edit = an_edit(job, to)
    names = ("tenant_id", "job_id", "destination_id", "expected_version", "changed_by", "reason")
    run(api, "change_terms", **{name: getattr(edit, name) for name in names})


def end_session(admin_url: str) -> None:
    """Have the server end the web process's session, and wait until it is gone."""
    connections["api"].ensure_connection()
    pid = connections["api"].connection.info.backend_pid
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_an_edit_whose_answer_was_lost_is_found_by_its_own_record(
    place: Place, elsewhere: Place, admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(place)
    change = QueueStatements.change_terms

    def change_and_lose_the_answer(self: QueueStatements, **params: Any) -> None:
        change(self, **params)
        end_session(admin_url)
        ExportJob.objects.using("api").exists()  # raises what a lost answer raises

    monkeypatch.setattr(QueueStatements, "change_terms", change_and_lose_the_answer)

    assert submit_edit(an_edit(job, elsewhere)) == Changed(2)
    assert TermsChange.objects.count() == 1


def test_an_edit_whose_session_was_lost_before_it_ran_claims_nothing(
    place: Place, elsewhere: Place, admin_url: str
) -> None:
    job = queued(place)
    crashpoints.arm("terms.before", lambda: end_session(admin_url))

    assert submit_edit(an_edit(job, elsewhere)) == TermsBusy()
    assert now(job.id).version == 1


@pytest.mark.parametrize("differs", [{"changed_by": "user:bob"}, {"reason": "another reason"}], ids=["who", "why"])
def test_an_edit_that_was_lost_does_not_take_another_ones_record_for_its_own(
    place: Place, elsewhere: Place, admin_url: str, differs: dict[str, str]
) -> None:
    job = queued(place)

    def another_is_first_and_the_session_is_lost() -> None:
        crashpoints.disarm()
        other = Background(lambda: submit_edit(an_edit(job, elsewhere, **differs)))
        assert other.result() == Changed(2)
        end_session(admin_url)

    crashpoints.arm("terms.before", another_is_first_and_the_session_is_lost)

    assert submit_edit(an_edit(job, elsewhere)) == NotChanged(now(job.id))
    assert TermsChange.objects.count() == 1


def test_the_captured_sql_of_an_edit_sets_woken_at_by_the_databases_clock_and_sends_no_timestamp(
    place: Place, elsewhere: Place
) -> None:
    """The logged SQL of a terms edit: woken_at from the database's clock, no timestamp among the parameters."""
    job = queued(place)
    with CaptureQueriesContext(connections["api"]) as captured:
        submit_edit(an_edit(job, elsewhere))

    statement = captured.captured_queries[0]["sql"]
    assert "woken_at = clock_timestamp()" in statement
    assert not re.search(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}", statement)
    assert "%(woken_at)s" not in STATEMENTS["change_terms"].text


TERMS = ("destination_id",)
"""The columns that policy evaluates and version counts."""

ASSIGNMENTS = re.compile(
    r"\bUPDATE\s+export_jobs\b.*?\bSET\b(?P<set>.*?)(?:\bFROM\b|\bWHERE\b|\bRETURNING\b|$)", re.DOTALL | re.IGNORECASE
)


def writes_terms_without_increment(text: str) -> bool:
    """Tell whether any UPDATE of export_jobs in a statement assigns a term but does not raise the version."""
    for update in ASSIGNMENTS.finditer(text):
        assigned = update["set"]
        writes = any(re.search(rf"(?<!\w){column}\s*=", assigned) for column in TERMS)
        if writes and not re.search(r"(?<!\w)version\s*=\s*(?:\w+\.)?version\s*\+\s*1\b", assigned):
            return True
    return False


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_no_statement_writes_a_term_without_raising_the_version(name: str) -> None:
    assert not writes_terms_without_increment(STATEMENTS[name].text)


def test_the_check_covers_the_statements_of_both_apps() -> None:
    assert {"change_terms", "sweep", "requeue", "correct"} <= STATEMENTS.keys()


def test_the_check_itself_finds_an_edit_without_the_increment() -> None:
    """Negative control: the statement as it is, but without its increment."""
    text = STATEMENTS["change_terms"].text
    assert writes_terms_without_increment(text.replace("version = j.version + 1, ", ""))
    assert not writes_terms_without_increment(text)
