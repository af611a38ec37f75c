"""The cancel page: one click, one recorded answer, however often and from wherever it is sent (I9)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections

from exports.models import CancellationRequest, ExportJob
from exports.states import CancellationOutcome, FailureReason, Status
from tests.console.pages import fields_of, one_of, text_of
from tests.lives import cancel, delivered, delivering, rejected, running, unknown
from tests.people import a_tenant, an_export
from tests.recovery.sessions import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def page_of(job: ExportJob) -> str:
    return f"/admin/exports/exportjob/{job.id}/cancel/"


def click(browser: RoleClient, job: ExportJob, **filled: str) -> Any:
    """Open the page, click, and follow to where it leads."""
    opened = browser.get(page_of(job))
    return browser.post(page_of(job), {**fields_of(opened), **filled}, follow=True)


STATES: dict[str, tuple[Callable[[Destination], ExportJob], CancellationOutcome, str]] = {
    "queued": (
        an_export,
        CancellationOutcome.CANCELED_WHILE_QUEUED,
        "Cancelled. It had not started; nothing was sent.",
    ),
    "running": (
        lambda there: running(there).job,
        CancellationOutcome.STOP_REQUESTED,
        (
            "Your request to stop is recorded. The export was already being prepared; it stops unless delivery is"
            " authorized first. This page follows it."
        ),
    ),
    "asked to stop": (
        lambda there: _clicked(running(there).job),
        CancellationOutcome.STOP_ALREADY_REQUESTED,
        "user:ann asked it to stop just now",
    ),
    "cancelled": (
        lambda there: _clicked(an_export(there)),
        CancellationOutcome.ALREADY_CANCELED,
        "It had already been cancelled by user:ann just now",
    ),
    "rejected": (
        lambda there: rejected(there, "The tenant is not active."),
        CancellationOutcome.ALREADY_ENDED,
        "It had already ended: Refused by policy: The tenant is not active. Nothing was sent.",
    ),
    "failed": (
        lambda there: running(there).fail(FailureReason.BUILD_FAILED).job,
        CancellationOutcome.ALREADY_ENDED,
        "It had already ended: Failed: the file could not be built. Nothing was sent.",
    ),
    "delivering": (
        lambda there: delivering(there).job,
        CancellationOutcome.TOO_LATE,
        "What is known of the delivery: Being delivered. It can no longer be stopped.",
    ),
    "delivered": (
        lambda there: delivered(there).job,
        CancellationOutcome.TOO_LATE,
        "Too late to stop: delivery was authorized at about just now",
    ),
    "unknown": (
        lambda there: unknown(there).job,
        CancellationOutcome.TOO_LATE,
        "What is known of the delivery: Not known whether it was delivered.",
    ),
}


def _clicked(job: ExportJob) -> ExportJob:
    cancel(job, "user:ann")
    return job


@pytest.mark.parametrize("state", STATES)
def test_each_outcome_has_its_own_sentence_and_is_what_was_recorded(
    operator: RoleClient, destination: Destination, state: str
) -> None:
    make, outcome, sentence = STATES[state]
    job = make(destination)

    answer = click(operator, job, reason="the partner called")

    recorded = CancellationRequest.objects.get(job_id=job.id, requested_by="user:olga")
    assert (recorded.outcome, recorded.reason) == (outcome, "the partner called")
    assert answer.redirect_chain == [(f"{page_of(job)}{recorded.id}/", 302)]
    assert sentence in text_of(answer)


def test_a_stop_request_is_never_called_cancelled(operator: RoleClient, destination: Destination) -> None:
    told = text_of(click(operator, running(destination).job))

    assert "ancelled" not in told


def test_the_page_says_what_a_click_would_most_likely_find(operator: RoleClient, destination: Destination) -> None:
    expected = {
        an_export(destination): ("most likely cancel it before anything is sent", "Cancel this export"),
        running(destination).job: ("it stops unless delivery is authorized first", "Ask it to stop"),
        delivering(destination).job: ("a cancel now would be too late", "Record my request all the same"),
    }

    for job, (likely, button) in expected.items():
        told = text_of(operator.get(page_of(job)))
        assert likely in told
        assert button in told


def test_a_double_click_is_one_request_with_one_answer(operator: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    form = fields_of(operator.get(page_of(job)))

    answers = [operator.post(page_of(job), {**form, "reason": reason}, follow=True) for reason in ("a", "b")]

    assert answers[0].redirect_chain == answers[1].redirect_chain
    assert "Cancelled. It had not started; nothing was sent." in text_of(answers[1])
    assert CancellationRequest.objects.get(job_id=job.id).reason == "a"


def test_two_tabs_and_the_back_button_carry_the_same_click(operator: RoleClient, destination: Destination) -> None:
    job = running(destination).job
    first, second = (fields_of(operator.get(page_of(job))) for _ in range(2))
    operator.post(page_of(job), first)

    back = operator.get(page_of(job))

    assert first["request_id"] == second["request_id"] == fields_of(back)["request_id"]
    assert "You have made this request before." in text_of(back)
    again = operator.post(page_of(job), fields_of(back), follow=True)
    assert "Your request to stop is recorded." in text_of(again)
    assert CancellationRequest.objects.count() == 1


def test_a_request_that_is_meant_anew_is_another_click(operator: RoleClient, destination: Destination) -> None:
    job = running(destination).job
    click(operator, job)

    anew = operator.get(f"{page_of(job)}?click=2")
    answer = operator.post(page_of(job), fields_of(anew), follow=True)

    assert "user:olga asked it to stop" in text_of(answer)
    assert CancellationRequest.objects.filter(job_id=job.id).count() == 2


def test_two_people_make_two_requests(operator: RoleClient, destination: Destination, tenant: Tenant) -> None:
    job = an_export(destination)
    other = one_of("Export operators", tenant, username="otto")
    mine, theirs = (fields_of(browser.get(page_of(job)))["request_id"] for browser in (operator, other))

    assert mine != theirs
    click(operator, job)
    assert "It had already been cancelled by user:olga" in text_of(click(other, job))


def test_busy_records_nothing_and_offers_the_same_click_again(operator: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    form = {**fields_of(operator.get(page_of(job))), "reason": "wrong list"}
    with session("default") as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [job.id])
        busy = operator.post(page_of(job), form)
        holder.execute("ROLLBACK")

    assert (busy.status_code, busy["Retry-After"]) == (503, "1")
    assert "We could not tell. Nothing was recorded. Try again: the same click is used." in text_of(busy)
    assert CancellationRequest.objects.count() == 0
    assert fields_of(busy) == form
    assert "Cancelled. It had not started" in text_of(operator.post(page_of(job), fields_of(busy), follow=True))


def test_a_click_whose_answer_was_lost_offers_itself_again_while_the_database_is_away(
    operator: RoleClient, destination: Destination, admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = an_export(destination)
    form = fields_of(operator.get(page_of(job)))
    monkeypatch.setattr("exports.boundary.REREAD_SECONDS", 0.3)
    with psycopg.connect(admin_url, autocommit=True) as admin:

        def cut(_point: str) -> None:
            """Lose the session before its commit, and every new one for a while."""
            pid = connections["api"].connection.info.backend_pid
            admin.execute("ALTER ROLE exports_api CONNECTION LIMIT 0")
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

        monkeypatch.setattr("exports.actions.request_cancellation.reach", cut)
        lost = operator.post(page_of(job), form)
        admin.execute("ALTER ROLE exports_api CONNECTION LIMIT -1")
    monkeypatch.undo()
    connections["api"].close()

    assert lost.status_code == 503
    assert "We could not tell, not even whether your click was recorded." in text_of(lost)
    assert fields_of(lost) == form
    assert "Cancelled. It had not started" in text_of(operator.post(page_of(job), fields_of(lost), follow=True))


def test_an_id_of_another_request_does_nothing_and_says_so(operator: RoleClient, destination: Destination) -> None:
    taken, job = cancel(running(destination).job), an_export(destination)

    answer = operator.post(page_of(job), {"request_id": str(taken.id)})

    assert answer.status_code == 409
    assert "This request id belongs to another request. Nothing was done." in text_of(answer)
    assert f"{page_of(job)}?click=2" in answer.content.decode()
    assert ExportJob.objects.get(id=job.id).status == Status.QUEUED


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, "This page has lost a part of itself."),
        ({"request_id": "7"}, "This page has lost a part of itself."),
        ({"request_id": str(uuid.uuid4()), "reason": "x" * 2_001}, "at most 2000 characters"),
        ({"request_id": str(uuid.uuid4()), "reason": "a\x00b"}, "Null characters are not allowed."),
    ],
)
def test_a_form_that_is_wrong_does_nothing_and_leads_to_the_field(
    operator: RoleClient, destination: Destination, sent: dict[str, str], message: str
) -> None:
    job = an_export(destination)

    answer = operator.post(page_of(job), sent)

    page = answer.content.decode()
    assert answer.status_code == 400
    assert message in text_of(answer)
    assert 'href="#id_reason"' in page or 'href="#act-form"' in page
    assert 'role="alert"' in page
    assert "<title>Error: " in page
    assert CancellationRequest.objects.count() == 0


def test_the_answer_is_followed_until_the_export_has_ended(operator: RoleClient, destination: Destination) -> None:
    life = running(destination)
    followed = click(operator, life.job)
    path = followed.redirect_chain[0][0]
    assert f'data-live="{path}" data-live-part="answer"' in followed.content.decode()
    part = operator.get(path, headers={"X-Part": "answer"}).content.decode()
    assert "<html" not in part
    assert "data-ended" not in part

    life.stop()

    part = operator.get(path, headers={"X-Part": "answer"}).content.decode()
    assert "data-ended" in part
    assert "Stopped before delivery. Nothing was sent." in part
    assert "data-live" not in operator.get(path).content.decode()


def test_a_reason_is_shown_as_text(operator: RoleClient, destination: Destination) -> None:
    answer = click(operator, an_export(destination), reason="<script>alert(1)</script>")

    assert "<script>alert" not in answer.content.decode()


def test_only_the_methods_of_a_form_are_answered(operator: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    recorded = cancel(job)

    assert operator.put(page_of(job)).status_code == 405
    assert operator.post(f"{page_of(job)}{recorded.id}/").status_code == 405


def test_the_answer_of_a_click_on_another_export_is_missing(operator: RoleClient, destination: Destination) -> None:
    recorded, job = cancel(an_export(destination)), an_export(destination)

    assert operator.get(f"{page_of(job)}{recorded.id}/").status_code == 404


def test_an_export_offers_cancel_while_it_can_help(operator: RoleClient, destination: Destination) -> None:
    for job, is_offered in ((an_export(destination), True), (running(destination).job, True)):
        page = operator.get(f"/admin/exports/exportjob/{job.id}/change/").content.decode()
        assert (page_of(job) in page) is is_offered
    ended = delivered(destination).job
    assert page_of(ended) not in operator.get(f"/admin/exports/exportjob/{ended.id}/change/").content.decode()


def test_nobody_cancels_without_the_permission_or_in_another_tenant(
    viewer: RoleClient, destination: Destination
) -> None:
    job = an_export(destination)
    stranger = one_of("Export operators", a_tenant())
    sent = {"request_id": str(uuid.uuid4())}

    assert viewer.post(page_of(job), sent).status_code == 403
    assert stranger.post(page_of(job), sent).status_code == 404
    assert ExportJob.objects.get(id=job.id).status == Status.QUEUED
    assert CancellationRequest.objects.count() == 0
