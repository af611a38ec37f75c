"""The lists: found in seconds at any size, by whatever is pasted, and never counted."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports.holds.opening import hold_guarded
from exports.models import ExportJob, OutboxMessage
from exports.states import FailureReason
from tests.console.pages import fields_of, offered, text_of
from tests.lives import cancel, delivered, rejected, running, unknown
from tests.people import a_destination, a_person, a_tenant, an_export
from tests.routing import RoleClient

if TYPE_CHECKING:
    from exports.models import Destination, Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

LIST = "/admin/exports/exportjob/"


def listed(browser: RoleClient, path: str = LIST, **query: Any) -> list[str]:
    answer = browser.get(path, query)
    assert answer.status_code == 200
    return re.findall(r"exportjob/([0-9a-f-]{36})/change/", answer.content.decode())


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exports.admin.base.ConsoleAdmin.list_per_page", 2)


def follow(browser: RoleClient, path: str, rel: str) -> str | None:
    link = re.search(rf'rel="{rel}" href="([^"]+)"', browser.get(path).content.decode())
    return LIST + link.group(1).replace("&amp;", "&") if link else None


@pytest.mark.usefixtures("pages_of_two")
def test_pages_lead_from_the_newest_to_the_oldest_and_back(viewer: RoleClient, destination: Destination) -> None:
    made = [str(an_export(destination).id) for _ in range(5)]

    path: str | None = LIST
    seen, visited = [], []
    while path:
        seen += listed(viewer, path)
        visited.append(path)
        path = follow(viewer, path, "next")

    assert seen == made[::-1]
    back = follow(viewer, visited[-1], "prev")
    assert back is not None
    assert listed(viewer, back) == listed(viewer, visited[1])


@pytest.mark.usefixtures("pages_of_two")
def test_a_page_keeps_its_filters_and_another_filter_leaves_the_page(
    viewer: RoleClient, destination: Destination
) -> None:
    for _ in range(3):
        an_export(destination)
        running(destination)

    older = follow(viewer, f"{LIST}?status=Queued", "next")

    assert older is not None
    assert "status=Queued" in older
    assert len(listed(viewer, older)) == 1
    form = fields_of(viewer.get(older), "filters")
    assert form["status"] == "Queued"
    assert "at" not in form


def test_a_position_that_is_none_shows_the_first_page(viewer: RoleClient, destination: Destination) -> None:
    job = an_export(destination)

    answer = viewer.get(LIST, {"at": "nonsense"}, follow=True)

    assert answer.redirect_chain == [(f"{LIST}?e=1", 302)]
    assert str(job.id) in answer.content.decode()


def test_whatever_is_pasted_finds_its_export_and_only_that(
    viewer: RoleClient, destination: Destination, tenant: Tenant
) -> None:
    an_export(destination)
    life = delivered(destination)
    click = life.cancel()
    wake_up = OutboxMessage.objects.get(job_id=life.job.id)
    pasted = [
        str(life.job.id),
        str(life.job.id).upper(),
        f"  {life.job.id} ",
        life.job.delivery_key,
        life.name,
        f"/in/{tenant.slug}/{life.name}",
        f"job {life.job.id} of the partner",
        str(click.id),
        str(wake_up.message_id),
    ]

    for text in pasted:
        assert listed(viewer, q=text) == [str(life.job.id)], text
    assert listed(viewer, q="nothing of the kind") == []


def test_a_key_that_is_no_uuid_is_found_too(viewer: RoleClient, destination: Destination, tenant: Tenant) -> None:
    job_id = uuid.uuid4()
    ExportJob.objects.db_manager("api").create_export(
        job_id=job_id,
        tenant_id=tenant.id,
        destination_id=destination.id,
        delivery_key="spring-2030",
        created_by="client:crm",
    )

    for text in ("spring-2030", "contacts-spring-2030.csv"):
        assert listed(viewer, q=text) == [str(job_id)]


def test_a_replacement_is_found_by_its_originals_key(
    viewer: RoleClient, destination: Destination, tenant: Tenant
) -> None:
    original = running(destination).fail(FailureReason.BUILD_FAILED).job
    replacement = uuid.uuid4()
    ExportJob.objects.db_manager("api").create_replacement(
        job_id=replacement,
        tenant_id=tenant.id,
        original_job_id=original.id,
        created_by="user:ann",
        replacement_reason="again",
        overwrite_agreement_ref=None,
    )

    assert listed(viewer, q=original.delivery_key) == [str(replacement), str(original.id)]


def test_filters_keep_what_they_name(viewer: RoleClient, destination: Destination, tenant: Tenant) -> None:
    waiting = an_export(destination)
    started = running(a_destination(tenant), created_by="user:ann").job

    assert listed(viewer, status="Queued") == [str(waiting.id)]
    for name in ("user:ann", "ann", " ann "):
        assert listed(viewer, created_by=name) == [str(started.id)]
    assert listed(viewer, created_by="an") == []
    assert listed(viewer, status="Running", created_by="crm") == []
    assert set(listed(viewer, status="", created_by="", age="", attention="", q="")) == {
        str(waiting.id),
        str(started.id),
    }
    assert listed(viewer, destination=str(started.destination_id)) == [str(started.id)]
    assert listed(viewer, destination="x") == []


def created(job: ExportJob, ago: str) -> None:
    """Let it have been created so long ago; only the owner can move a row's clock."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_jobs SET created_at = clock_timestamp() - %s::interval WHERE id = %s", [ago, job.id]
        )


def test_an_age_keeps_what_was_created_then(viewer: RoleClient, destination: Destination) -> None:
    jobs = {ago: an_export(destination) for ago in ("1 minute", "3 hours", "3 days", "8 days")}
    for ago, job in jobs.items():
        created(job, ago)

    def of(age: str) -> list[str]:
        return [ago for ago, job in jobs.items() if str(job.id) in listed(viewer, age=age)]

    assert of("hour") == ["1 minute"]
    assert of("day") == ["1 minute", "3 hours"]
    assert of("week") == ["1 minute", "3 hours", "3 days"]
    assert of("older") == ["8 days"]


def test_what_needs_attention_can_be_listed_alone(viewer: RoleClient, destination: Destination) -> None:
    waits = unknown(destination).job
    occupied = running(destination).fail(FailureReason.FINAL_NAME_OCCUPIED).job
    guarded = an_export(destination)
    hold_guarded(guarded, "The file has no contacts.", "worker-1", "worker")
    an_export(destination), delivered(destination)

    assert set(listed(viewer, attention="yes")) == {str(waits.id), str(occupied.id), str(guarded.id)}


def test_the_filters_offer_what_there_is_and_show_what_is_chosen(viewer: RoleClient, destination: Destination) -> None:
    page = viewer.get(LIST, {"status": "Failed", "created_by": "ann", "q": "x"})

    assert offered(page, "destination", "filters") == ["", str(destination.id)]
    assert fields_of(page, "filters") == {
        "q": "x",
        "status": "Failed",
        "destination": "",
        "created_by": "ann",
        "age": "",
        "attention": "",
    }
    assert "Nothing here matches." in text_of(page)
    assert f'<a href="{LIST}">Show everything</a>' in page.content.decode()
    assert "Show everything" not in text_of(viewer.get(LIST))


def since_of(browser: RoleClient, job: ExportJob) -> tuple[str, str]:
    """Return how long an export has been in its state, and its last event, as the list shows them."""
    page = browser.get(LIST, {"q": str(job.id)}).content.decode()
    cells = [re.search(rf'<td class="field-{name}">(.*?)</td>', page, re.DOTALL) for name in ("since", "last")]
    found = [re.sub(r"<[^>]+>", " ", cell.group(1) if cell else "").split("(")[0].strip() for cell in cells]
    return found[0], found[1]


def test_each_export_shows_how_long_it_has_been_so_and_its_last_event(
    viewer: RoleClient, destination: Destination
) -> None:
    jobs = {
        "waiting": an_export(destination),
        "started": running(destination).job,
        "cancelled": an_export(destination),
        "refused": rejected(destination, "no"),
        "delivered": delivered(destination).job,
    }
    cancel(jobs["cancelled"])
    for job in jobs.values():
        created(job, "2 days")

    told = {name: since_of(viewer, job) for name, job in jobs.items()}

    assert told["waiting"] == ("2 d ago", "—")
    assert told["started"][1].startswith("Claimed")
    assert told["delivered"][1].startswith("Finished")
    assert [name for name, (since, _) in told.items() if since == "2 d ago"] == ["waiting"]


def test_the_rows_are_refreshed_alone_and_under_the_same_filters(viewer: RoleClient, destination: Destination) -> None:
    waiting = an_export(destination)
    running(destination)
    page = viewer.get(f"{LIST}?status=Queued").content.decode()
    assert f'data-live="{LIST}?status=Queued" data-live-part="rows"' in page

    part = viewer.get(f"{LIST}?status=Queued", headers={"X-Part": "rows"}).content.decode()

    assert re.findall(r"exportjob/([0-9a-f-]{36})/change/", part) == [str(waiting.id)]
    assert "<html" not in part
    assert "<form" not in part


def test_the_outbox_lists_what_waits_and_the_rest_by_its_export(viewer: RoleClient, destination: Destination) -> None:
    waiting, sent = an_export(destination), an_export(destination)
    OutboxMessage.objects.mark_published(
        message_ids=list(OutboxMessage.objects.filter(job_id=sent.id).values_list("message_id", flat=True))
    )
    outbox = "/admin/exports/outboxmessage/"

    assert listed(viewer, outbox) == [str(waiting.id)]
    assert listed(viewer, outbox, q=str(sent.id)) == [str(sent.id)]


@pytest.mark.parametrize("path", [LIST, "/admin/exports/exportattemptevent/", "/admin/exports/outboxmessage/"])
def test_a_list_counts_nothing_and_asks_no_more_for_more_rows(
    viewer: RoleClient, destination: Destination, path: str
) -> None:
    counts = []
    viewer.get(path)
    for more in (1, 15):
        for _ in range(more):
            cancel(running(destination).job)
        with CaptureQueriesContext(connections["api"]) as asked:
            viewer.get(path)
        counts.append(len(asked))
        assert not [query["sql"] for query in asked if "COUNT(" in query["sql"]]

    assert counts[0] == counts[1]


def plan(query: str) -> str:
    """Return how the server would run it on a table too large to sort or to walk."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_sort = off")
        cursor.execute("EXPLAIN " + query)
        lines = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("RESET enable_seqscan")
        cursor.execute("RESET enable_sort")
    return lines


@pytest.mark.parametrize("many", [False, True], ids=["one-tenant", "many-tenants"])
def test_the_order_of_the_exports_is_read_from_an_index(*, many: bool) -> None:
    tenants = [a_tenant(), a_tenant()] if many else [a_tenant()]
    an_export(a_destination(tenants[0]))
    browser = RoleClient()
    browser.force_login(a_person(*tenants, group="Export viewers"))
    browser.get(LIST)
    with CaptureQueriesContext(connections["api"]) as asked:
        browser.get(LIST)
    (query,) = [each["sql"] for each in asked if 'ORDER BY "export_jobs"."created_at"' in each["sql"]]

    found = plan(query)

    assert "ix_x_export_jobs_recent" in found if many else "ix_x_export_jobs_" in found
    assert "Sort" not in found
