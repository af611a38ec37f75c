"""The terms page: another destination for a queued export, and an honest answer to whoever lost the race."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exports.actions.change_terms import Changed, TermsEdit, change_terms
from exports.models import ExportJob, OutboxMessage, TermsChange
from exports.states import Status
from tests.console.pages import confirm, fields_of, fill, offered, one_of, text_of
from tests.lives import a_contract, cancel, running
from tests.people import a_destination, a_tenant, an_export
from tests.recovery.sessions import session

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def page_of(job: ExportJob) -> str:
    return f"/admin/exports/exportjob/{job.id}/terms/"


@pytest.fixture
def elsewhere(tenant: Tenant) -> Destination:
    return a_destination(tenant, name="elsewhere")


def now(job: ExportJob) -> ExportJob:
    found: ExportJob = ExportJob.objects.get(id=job.id)
    return found


def move(job: ExportJob, there: Destination, who: str = "user:bob") -> None:
    edit = TermsEdit(
        tenant_id=job.tenant_id,
        job_id=job.id,
        destination_id=there.id,
        expected_version=1,
        changed_by=who,
        reason="the other one is closed",
    )
    assert isinstance(change_terms(edit, using="api"), Changed)


def test_a_queued_export_is_sent_elsewhere_with_who_and_why(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)

    answer = confirm(operator, page_of(job), destination=str(elsewhere.id), reason="the partner moved")

    assert answer["Location"] == f"/admin/exports/exportjob/{job.id}/change/"
    assert "It goes to the other destination, as version 2." in text_of(operator.get(answer["Location"]))
    assert (now(job).destination_id, now(job).version) == (elsewhere.id, 2)
    change = TermsChange.objects.get(job_id=job.id)
    assert (change.changed_by, change.reason) == ("user:olga", "the partner moved")
    assert OutboxMessage.objects.filter(job_id=job.id).count() == 2


def test_only_enabled_destinations_of_the_tenant_other_than_its_own_are_offered(
    operator: RoleClient, destination: Destination, elsewhere: Destination, tenant: Tenant
) -> None:
    a_destination(tenant, is_enabled=False)
    foreign = a_destination(a_tenant())
    job = an_export(destination)

    page = operator.get(page_of(job))

    assert offered(page, "destination") == ["", str(elsewhere.id)]
    sent = {**fields_of(page), "destination": str(foreign.id), "reason": "x", "confirmed": "yes"}
    answer = operator.post(page_of(job), sent)
    assert answer.status_code == 400
    assert "That destination is not enabled any more." in text_of(answer)
    assert now(job).destination_id == destination.id


def test_nothing_is_changed_before_the_answers_are_confirmed(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)

    checked = fill(operator, page_of(job), destination=str(elsewhere.id), reason="the partner moved")

    told = text_of(checked)
    assert "Send it to elsewhere Why the partner moved" in told
    assert f"It no longer goes to {destination.name}." in told
    assert "You looked at version 1; this makes version 2." in told
    assert now(job).version == 1
    changing = operator.post(page_of(job), {**fields_of(checked), "change": "yes"})
    assert fields_of(changing)["reason"] == "the partner moved"
    assert 'role="alert"' not in changing.content.decode()


def test_a_missing_answer_is_asked_for_by_name(operator: RoleClient, destination: Destination) -> None:
    a_destination(destination.tenant)
    answer = fill(operator, page_of(an_export(destination)))

    assert answer.status_code == 400
    assert "Choose where it should go." in text_of(answer)
    assert 'href="#id_destination"' in answer.content.decode()
    assert 'href="#id_reason"' in answer.content.decode()


def lost(operator: RoleClient, job: ExportJob, checked: Any) -> str:
    answer = operator.post(page_of(job), {**fields_of(checked), "confirmed": "yes"})
    assert answer.status_code == 409
    told = text_of(answer)
    assert "Not changed." in told
    assert "Your change was not made." in told
    return told


def test_whoever_loses_to_another_edit_is_told_who_moved_it_where_and_why(
    operator: RoleClient, destination: Destination, elsewhere: Destination, tenant: Tenant
) -> None:
    job, third = an_export(destination), a_destination(tenant, name="third")
    checked = fill(operator, page_of(job), destination=str(elsewhere.id), reason="mine")

    move(job, third)

    told = lost(operator, job, checked)
    assert "user:bob sent it to third just now" in told
    assert "you looked at version 1, and it is version 2 now. Why: the other one is closed" in told
    assert now(job).destination_id == third.id


def test_whoever_loses_to_the_same_edit_by_another_is_not_told_it_was_theirs(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)
    checked = fill(operator, page_of(job), destination=str(elsewhere.id), reason="mine")

    move(job, elsewhere)

    assert "user:bob sent it to elsewhere just now" in lost(operator, job, checked)


def test_whoever_loses_to_a_worker_or_a_cancel_is_told_the_state(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    started, ended = an_export(destination), an_export(destination)
    filled = {"destination": str(elsewhere.id), "reason": "mine"}
    pages = [fill(operator, page_of(job), **filled) for job in (started, ended)]

    ExportJob.objects.db_manager("worker").claim(
        job_id=started.id,
        checked_version=1,
        attempt_id=started.id,
        worker_id="w",
        contract_id=a_contract(destination).id,
        lease_seconds=60,
    )
    cancel(ended)

    assert "Preparing the file. Nothing has been sent." in lost(operator, started, pages[0])
    assert "Cancelled before it started." in lost(operator, ended, pages[1])


def test_a_race_that_is_lost_already_is_said_before_the_confirmation(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)
    form = fields_of(operator.get(page_of(job)))
    move(job, elsewhere)

    answer = operator.post(page_of(job), {**form, "destination": str(destination.id), "reason": "mine"})

    assert answer.status_code == 409
    assert "user:bob sent it to elsewhere" in text_of(answer)


def test_the_second_of_a_double_click_is_told_what_the_first_did(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)
    checked = fill(operator, page_of(job), destination=str(elsewhere.id), reason="mine")
    sent = {**fields_of(checked), "confirmed": "yes"}

    answers = [operator.post(page_of(job), sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert now(job).version == 2


def test_an_edit_that_gets_no_answer_offers_itself_again(
    operator: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)
    checked = fill(operator, page_of(job), destination=str(elsewhere.id), reason="mine")
    sent = {**fields_of(checked), "confirmed": "yes"}
    with session("default") as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [job.id])
        busy = operator.post(page_of(job), sent)
        holder.execute("ROLLBACK")

    assert busy.status_code == 503
    assert fields_of(busy) == fields_of(checked)
    assert operator.post(page_of(job), {**fields_of(busy), "confirmed": "yes"}).status_code == 302
    assert now(job).version == 2


def test_an_export_that_cannot_be_sent_elsewhere_says_why(
    operator: RoleClient, destination: Destination, tenant: Tenant
) -> None:
    waiting = an_export(destination)
    assert "no other destination that is enabled" in text_of(operator.get(page_of(waiting)))
    a_destination(tenant)
    assert "Only an export that waits can be sent elsewhere." in text_of(
        operator.get(page_of(running(destination).job))
    )


def test_it_is_offered_while_the_export_waits(
    operator: RoleClient, viewer: RoleClient, destination: Destination
) -> None:
    waiting, started = an_export(destination), running(destination).job

    def page(browser: RoleClient, job: ExportJob) -> str:
        return browser.get(f"/admin/exports/exportjob/{job.id}/change/").content.decode()

    assert page_of(waiting) in page(operator, waiting)
    assert page_of(waiting) not in page(viewer, waiting)
    assert page_of(started) not in page(operator, started)


def test_nobody_moves_an_export_without_the_permission_or_in_another_tenant(
    viewer: RoleClient, destination: Destination, elsewhere: Destination
) -> None:
    job = an_export(destination)
    sent = {"expected_version": "1", "destination": str(elsewhere.id), "reason": "x", "confirmed": "yes"}

    assert viewer.post(page_of(job), sent).status_code == 403
    assert one_of("Export operators", a_tenant()).post(page_of(job), sent).status_code == 404
    assert (now(job).version, now(job).status) == (1, Status.QUEUED)
