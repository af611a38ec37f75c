"""Cancelling many at once: seen before it counts, export by export, resumed, and with a table of what each came to."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports.admin import bulk_run
from exports.admin.bulk_plan import MOST_JOBS
from exports.models import CancellationRequest, ExportJob, Membership
from exports.states import Status
from tests.console.pages import fields_of, one_of, signed_in, text_of
from tests.lives import cancel, delivered, rejected, running
from tests.people import a_destination, a_person, a_tenant, an_export
from tests.recovery.sessions import session

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

MANY = "/admin/exports/exportjob/cancel-many/"
REASON = {"reason": "the wrong list"}


def plan(browser: RoleClient, query: str = "", **body: Any) -> str:
    """Choose exports in the list; the address of the plan."""
    answer = browser.post(f"{MANY}{query}", body)
    assert answer.status_code == 302
    return str(answer["Location"])


def matching(browser: RoleClient, query: str = "") -> str:
    return plan(browser, query, matching="yes")


def selected(browser: RoleClient, *jobs: ExportJob) -> str:
    return plan(browser, selected="yes", job=[str(job.id) for job in jobs])


def run(browser: RoleClient, path: str) -> Any:
    """Start it and go on as the button does, until nothing is left to do."""
    answer = browser.post(path, REASON, follow=True)
    while "data-step" in answer.content.decode():
        answer = browser.post(path, follow=True)
    return answer


def table(browser: RoleClient, path: str) -> list[dict[str, str]]:
    answer = browser.get(f"{path}table/")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="cancelled-')
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def outcomes() -> Counter[str]:
    return Counter(CancellationRequest.objects.filter(requested_by="user:olga").values_list("outcome", flat=True))


def one_of_each(there: Destination) -> None:
    an_export(there), running(there), delivered(there), rejected(there, "no")
    cancel(an_export(there), "user:ann")
    cancel(running(there).job, "user:ann")


def test_what_it_would_come_to_is_counted_before_anything_is_done(
    operator: RoleClient, destination: Destination
) -> None:
    one_of_each(destination)
    an_export(destination)

    told = text_of(operator.get(matching(operator)))

    assert "for 7 exports" in told
    assert "2 would be cancelled before they start" in told
    assert "1 would be asked to stop; each stops unless delivery is authorized first" in told
    assert "1 have been asked to stop already" in told
    assert "1 are too late to stop: delivery was authorized" in told
    assert outcomes() == {}


def test_each_export_comes_to_its_own_outcome_and_the_table_lists_them_all(
    operator: RoleClient, destination: Destination
) -> None:
    one_of_each(destination)
    path = matching(operator)

    told = text_of(run(operator, path))

    assert "Done: all 6 have their recorded answer." in told
    assert "1 asked to stop; it stops unless delivery is authorized first" in told
    assert dict(outcomes()) == {
        "CanceledWhileQueued": 1,
        "StopRequested": 1,
        "StopAlreadyRequested": 1,
        "AlreadyCanceled": 1,
        "AlreadyEnded": 1,
        "TooLate": 1,
    }
    rows = table(operator, path)
    assert {row["export"] for row in rows} == {str(each) for each in ExportJob.objects.values_list("id", flat=True)}
    assert {row["reason"] for row in rows} == {"the wrong list"}
    for row in rows:
        click = CancellationRequest.objects.get(id=row["request"])
        assert (str(click.job_id), click.reason) == (row["export"], "the wrong list")


def test_only_the_selected_are_cancelled(operator: RoleClient, destination: Destination) -> None:
    chosen, other = [an_export(destination) for _ in range(2)], an_export(destination)
    listed = operator.get("/admin/exports/exportjob/").content.decode()
    assert all(f'name="job" value="{job.id}"' in listed for job in (*chosen, other))

    run(operator, selected(operator, *chosen))

    assert {job.id for job in ExportJob.objects.filter(status=Status.CANCELED)} == {job.id for job in chosen}


def test_all_that_match_the_filter_are_those_of_the_list(operator: RoleClient, destination: Destination) -> None:
    waiting, started = an_export(destination), running(destination).job

    run(operator, matching(operator, "?status=Queued"))

    assert ExportJob.objects.get(id=waiting.id).status == Status.CANCELED
    assert ExportJob.objects.get(id=started.id).stop_request_id is None


def test_what_comes_to_match_later_is_left_alone(operator: RoleClient, destination: Destination) -> None:
    an_export(destination)
    path = matching(operator, "?status=Queued")
    later = an_export(destination)

    run(operator, path)

    assert ExportJob.objects.get(id=later.id).status == Status.QUEUED


def test_it_goes_on_in_steps_and_can_be_resumed(
    operator: RoleClient, destination: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_run, "STEP_JOBS", 2)
    for _ in range(5):
        an_export(destination)
    path = matching(operator)

    first = operator.post(path, REASON, follow=True)
    assert "2 of 5 done; 3 still to do." in text_of(first)
    resumed = operator.get(path)
    assert "2 of 5 done; 3 still to do." in text_of(resumed)
    assert "Done: all 5" in text_of(run(operator, path))


def test_a_step_ends_in_time_however_slow_the_exports_are(
    operator: RoleClient, destination: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_run, "STEP_SECONDS", 0.0)
    for _ in range(3):
        an_export(destination)

    answer = operator.post(matching(operator), REASON, follow=True)

    assert "1 of 3 done; 2 still to do." in text_of(answer)


def test_a_step_sent_twice_counts_once(operator: RoleClient, destination: Destination) -> None:
    for _ in range(3):
        an_export(destination)
    path = matching(operator)

    for _ in range(3):
        operator.post(path, REASON)
    operator.post(path, {"again": "yes"})

    assert dict(outcomes()) == {"CanceledWhileQueued": 3}


def test_an_export_that_gives_no_answer_is_said_and_can_be_tried_again(
    operator: RoleClient, destination: Destination
) -> None:
    held, free = an_export(destination), an_export(destination)
    path = matching(operator)
    with session("default") as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [held.id])
        told = text_of(run(operator, path))
        holder.execute("ROLLBACK")

    assert "Done, but 1 of 2 got no answer. Nothing is recorded of them" in told
    rows = {row["export"]: row["outcome"] for row in table(operator, path)}
    assert rows[str(held.id)] == "no answer; nothing is recorded of it, and it can be tried again"
    assert rows[str(free.id)] == "cancelled before it had started; nothing was sent"
    again = operator.post(path, {"again": "yes"}, follow=True)
    assert "Done: all 2 have their recorded answer." in text_of(again)
    assert dict(outcomes()) == {"CanceledWhileQueued": 2}


def test_five_thousand_are_chosen_by_a_form_of_a_few_fields_and_the_rest_is_said_to_be_left(
    operator: RoleClient, destination: Destination
) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "WITH made AS (SELECT gen_random_uuid() AS id FROM generate_series(1, %(many)s)),"
            " keys AS (INSERT INTO deliveries (tenant_id, delivery_key, original_job_id)"
            " SELECT %(tenant)s, id::text, id FROM made)"
            " INSERT INTO export_jobs"
            " (id, tenant_id, status, version, destination_id, delivery_key, created_by, woken_at)"
            " SELECT id, %(tenant)s, 'Queued', 1, %(there)s, id::text, 'client:crm', now() FROM made",
            {"many": MOST_JOBS + 1, "tenant": destination.tenant_id, "there": destination.id},
        )
    path = matching(operator)

    preview = operator.get(path)
    assert f"for {MOST_JOBS} exports" in text_of(preview)
    assert f"More than {MOST_JOBS} match." in text_of(preview)
    assert len(fields_of(preview)) == 1
    answer = operator.post(path, REASON, follow=True)

    assert f"200 of {MOST_JOBS} done; {MOST_JOBS - 200} still to do." in text_of(answer)
    assert dict(outcomes()) == {"CanceledWhileQueued": 200}


def test_each_export_is_a_transaction_of_its_own(operator: RoleClient, destination: Destination) -> None:
    for _ in range(3):
        an_export(destination)
    path = matching(operator)

    with CaptureQueriesContext(connections["api"]) as asked:
        operator.post(path, REASON)

    assert sum("lock_timeout" in query["sql"] for query in asked) == 3


def test_nothing_chosen_is_said(operator: RoleClient) -> None:
    answer = operator.post(f"{MANY}?status=Queued", {"selected": "yes"}, follow=True)

    assert answer.redirect_chain == [("/admin/exports/exportjob/?status=Queued", 302)]
    assert "No export was chosen." in text_of(answer)


def test_a_reason_is_needed(operator: RoleClient, destination: Destination) -> None:
    an_export(destination)
    answer = operator.post(matching(operator), {"reason": " "})

    assert answer.status_code == 400
    assert "“Why” is missing." in text_of(answer)
    assert outcomes() == {}


def test_exports_of_another_tenant_cannot_be_chosen(operator: RoleClient, destination: Destination) -> None:
    foreign, own = an_export(a_destination(a_tenant())), an_export(destination)

    run(operator, selected(operator, foreign, own))
    matched = operator.get(matching(operator))

    assert "for 1 export" in text_of(matched)
    assert ExportJob.objects.get(id=foreign.id).status == Status.QUEUED
    assert ExportJob.objects.get(id=own.id).status == Status.CANCELED


def test_a_tenant_that_was_left_meanwhile_is_left_alone(
    operator: RoleClient, destination: Destination, tenant: Tenant
) -> None:
    job = an_export(destination)
    path = matching(operator)
    Membership.objects.filter(tenant=tenant).delete()

    told = text_of(operator.post(path, REASON, follow=True))

    assert "1 of 1 got no answer" in told
    assert str(job.id) not in told
    assert table(operator, path) == []
    assert ExportJob.objects.get(id=job.id).status == Status.QUEUED


def test_a_plan_is_its_makers_alone(operator: RoleClient, destination: Destination, tenant: Tenant) -> None:
    job = an_export(destination)
    path = matching(operator)
    other = one_of("Export operators", tenant)

    for answer in (other.get(path), other.post(path, REASON), other.get(f"{path}table/")):
        assert answer.status_code == 404
    assert operator.get(f"{MANY}{job.id}/").status_code == 404
    assert ExportJob.objects.get(id=job.id).status == Status.QUEUED


def test_a_plan_survives_signing_in_again(operator: RoleClient, destination: Destination, tenant: Tenant) -> None:
    an_export(destination)
    path = matching(operator)
    operator.logout()
    operator.force_login(User.objects.get(username="olga"))

    assert "Done: all 1" in text_of(run(operator, path))
    assert tenant.is_active


def test_nobody_without_the_permission_cancels_many(viewer: RoleClient, destination: Destination) -> None:
    an_export(destination)

    assert viewer.post(MANY, {"matching": "yes"}).status_code == 403
    assert 'name="job"' not in viewer.get("/admin/exports/exportjob/").content.decode()
    assert "Cancel all that match" not in text_of(viewer.get("/admin/exports/exportjob/"))


def test_only_a_click_plans_anything(operator: RoleClient) -> None:
    assert operator.get(MANY).status_code == 405
    assert operator.post(f"{MANY}?at=nonsense", {"matching": "yes"}).status_code == 404
    assert operator.post(f"{MANY}?tenant__name=x", {"matching": "yes"}).status_code == 400


def test_a_spreadsheet_takes_nothing_in_the_table_for_a_formula(operator: RoleClient, tenant: Tenant) -> None:
    an_export(a_destination(tenant, name="=HYPERLINK(1)"))
    path = matching(operator)
    operator.post(path, {"reason": "+49 called"})

    (row,) = table(operator, path)

    assert (row["destination"], row["reason"]) == ("'=HYPERLINK(1)", "'+49 called")


def test_the_page_asks_no_more_questions_for_more_exports(operator: RoleClient, destination: Destination) -> None:
    counts = []
    for more in (2, 20):
        for _ in range(more):
            an_export(destination)
        path = matching(operator, "?status=Queued")
        run(operator, path)
        with CaptureQueriesContext(connections["api"]) as asked:
            operator.get(path)
        counts.append(len(asked))

    assert counts[0] == counts[1]


def test_a_superuser_cancels_across_tenants(destination: Destination) -> None:
    jobs = [an_export(destination), an_export(a_destination(a_tenant()))]
    root = signed_in(a_person(is_superuser=True, username="olga"))

    told = text_of(run(root, selected(root, *jobs)))

    assert "Done: all 2" in told
    assert re.search(r"2 cancelled before it had started", told)
