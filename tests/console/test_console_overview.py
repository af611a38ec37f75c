"""The overview: what is true now, each number leading to exactly what it counts, within one's own tenants."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports import sums
from exports.admin.charts import row, top_of
from exports.holds.opening import hold_guarded
from exports.models import ExportJob, Hold, OutboxMessage, ProcessHeartbeat
from exports.states import FailureReason, HoldCause, Status
from tests.console.pages import signed_in, text_of
from tests.lives import cancel, delivered, delivering, rejected, running, unknown
from tests.observability.seeing import EVERYBODY, seen
from tests.people import a_destination, a_person, a_tenant, an_export

if TYPE_CHECKING:
    from exports.models import Destination
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"])

OVERVIEW = "/admin/"
CARD = re.compile(
    r'<li class="\w+"><a href="([^"]+)"><span class="number">([^<]+)</span>.*?</span> ([^<]+)</span>', re.DOTALL
)
CELL = re.compile(r'<a href="(/admin/exports/exportjob/\?counted=[^"]+)">(\d+)</a>')


@pytest.fixture(autouse=True)
def everybody_works() -> None:
    seen(*EVERYBODY)


def cards(browser: RoleClient) -> dict[str, tuple[str, str]]:
    """Return the number and the address of each card by its words."""
    page = browser.get(OVERVIEW).content.decode()
    return {words: (number, address.replace("&amp;", "&")) for address, number, words in CARD.findall(page)}


def listed(browser: RoleClient, address: str) -> list[str]:
    page = browser.get(address.replace("&amp;", "&")).content.decode()
    return re.findall(r'<th class="field-number"><a href="/admin/exports/exportjob/([0-9a-f-]{36})/change/', page)


def lives_of_all_kinds(destination: Destination) -> None:
    for _ in range(2):
        an_export(destination), running(destination)
    delivering(destination), delivered(destination), unknown(destination)
    cancel(an_export(destination)), rejected(destination, "no")
    running(destination).fail(FailureReason.BUILD_FAILED)
    running(destination).fail(FailureReason.FINAL_NAME_OCCUPIED)
    guarded = an_export(destination)
    hold_guarded(guarded, "The file has no contacts.", "worker-1", "worker")
    sums.count_hours("worker")


def test_each_number_leads_to_as_many_exports(viewer: RoleClient, destination: Destination) -> None:
    lives_of_all_kinds(destination)
    numbers = cards(viewer)

    assert {words: number for words, (number, _) in numbers.items()} == {
        "Waiting": "3",
        "Being prepared": "2",
        "Being delivered": "1",
        "Not known whether delivered": "1",
        "Needs attention": "3",
    }
    for words, (number, address) in numbers.items():
        assert len(listed(viewer, address)) == int(number), words


def test_each_number_of_the_day_leads_to_as_many_exports(viewer: RoleClient, destination: Destination) -> None:
    lives_of_all_kinds(destination)

    found = CELL.findall(viewer.get(OVERVIEW).content.decode())

    assert {re.sub(r".*=(\w+)\..*", r"\1", address) for address, _ in found} == {
        "Created", "Completed", "OutcomeUnknown", "Failed", "Canceled", "Rejected"
    }  # fmt: skip
    for address, number in found:
        assert len(listed(viewer, address)) == int(number), address


def test_the_list_behind_a_number_says_what_it_counts(viewer: RoleClient, destination: Destination) -> None:
    lives_of_all_kinds(destination)
    address = next(a for a, _ in CELL.findall(viewer.get(OVERVIEW).content.decode()) if "Failed" in a)

    assert "failed 20" in text_of(viewer.get(address))
    assert "counted" not in viewer.get("/admin/exports/exportjob/").content.decode()
    assert listed(viewer, "/admin/exports/exportjob/?counted=Failed.soon.later") == []


def test_one_sees_ones_own_tenants_and_superusers_all(viewer: RoleClient, destination: Destination) -> None:
    foreign = a_destination(a_tenant())
    lives_of_all_kinds(foreign)
    Hold.objects.create(destination=foreign, reason="their window", created_by="user:ann")
    an_export(destination)
    sums.count_hours("worker")

    mine = viewer.get(OVERVIEW)

    assert {number for number, _ in cards(viewer).values()} == {"1", "0"}
    assert {number for _, number in CELL.findall(mine.content.decode())} == {"1"}
    assert "their window" not in text_of(mine)
    assert foreign.name not in text_of(mine)
    everything = signed_in(a_person(is_superuser=True))
    assert cards(everything)["Waiting"][0] == "4"
    assert "their window" in text_of(everything.get(OVERVIEW))


def test_whoever_may_not_see_exports_is_told_so(tenant: Any) -> None:
    page = text_of(signed_in(a_person(tenant)).get(OVERVIEW))

    assert "You may not see anything here yet." in page
    assert "Needs attention" not in page


def test_when_all_is_well_it_says_so_in_one_line(viewer: RoleClient, destination: Destination) -> None:
    delivered(destination)
    OutboxMessage.objects.mark_published(message_ids=list(OutboxMessage.objects.values_list("message_id", flat=True)))

    page = text_of(viewer.get(OVERVIEW))

    assert "Nothing waits for a person, and everything works." in page
    assert "To be looked at first" not in page
    assert "The oldest has waited: none waits." in page


def older(statement: str) -> None:
    """Only the owner can move a row's clock."""
    with connections["default"].cursor() as cursor:
        cursor.execute(statement)


def test_what_is_wrong_stands_first_with_where_to_look(viewer: RoleClient, destination: Destination) -> None:
    unknown(destination)
    oldest = an_export(destination)
    an_export(destination)
    older(f"UPDATE export_jobs SET created_at = created_at - interval '2 hours' WHERE id = '{oldest.id}'")
    older("UPDATE outbox SET created_at = created_at - interval '10 minutes'")
    ProcessHeartbeat.objects.filter(process_id__startswith="worker").delete()
    seen("dispatcher:host:2:bb", seconds_ago=300)

    page = viewer.get(OVERVIEW)

    first = text_of(page).split("To be looked at first")[1].split("Now")[0]
    assert "1 export waits for a person. Open the worklist" in first
    assert "The oldest export has been waiting for 2 h" in first
    assert "Worker: not seen." in first
    assert "Dispatcher: last seen 5 min" in first
    assert "A wake-up has waited 10 min" in first
    assert f'<a href="/admin/exports/exportjob/{oldest.id}/change/">' in page.content.decode()


def test_holds_and_pauses_in_force_are_told_with_who_and_why(viewer: RoleClient, destination: Destination) -> None:
    Hold.objects.create(destination=destination, reason="their maintenance", created_by="user:ann")
    Hold.objects.create(cause=HoldCause.FROZEN, reason="an incident", created_by="user:otto")
    over = Hold.objects.create(destination=destination, reason="last week's", created_by="user:ann")
    older(f"UPDATE holds SET ended_at = clock_timestamp() WHERE id = '{over.id}'")

    held = text_of(viewer.get(OVERVIEW)).split("Held back")[1]

    assert f"Destination {destination.name} Paused by a person: their maintenance" in held
    assert "Everything Frozen by a person: an incident" in held
    assert "user:otto" in held
    assert "last week's" not in held


def test_it_asks_no_more_for_more_rows(viewer: RoleClient, destination: Destination) -> None:
    asked = []
    viewer.get(OVERVIEW)
    for _ in range(2):
        lives_of_all_kinds(destination)
        Hold.objects.create(destination=a_destination(destination.tenant), reason="a pause", created_by="user:ann")
        with CaptureQueriesContext(connections["api"]) as queries:
            viewer.get(OVERVIEW)
        asked.append(len(queries))

    assert asked[0] == asked[1]


def test_a_count_that_was_cut_says_so(viewer: RoleClient, destination: Destination, monkeypatch: Any) -> None:
    monkeypatch.setattr("exports.queries.overview.CAP", 2)
    for _ in range(3):
        an_export(destination)

    assert cards(viewer)["Waiting"][0] == "2 or more"


def test_its_own_script_gets_only_what_it_keeps_fresh(viewer: RoleClient, destination: Destination) -> None:
    an_export(destination)

    part = viewer.get(OVERVIEW, headers={"X-Part": "overview"}).content.decode()

    assert part.count("<h1") == 0
    assert 'class="cards"' in part


def test_it_is_drawn_without_a_script_or_a_style_of_its_own(viewer: RoleClient, destination: Destination) -> None:
    delivered(destination)
    sums.count_hours("worker")

    part = viewer.get(OVERVIEW, headers={"X-Part": "overview"}).content.decode()

    assert "<script" not in part
    assert "style=" not in part
    drawings = re.findall(r"<svg.*?</svg>", part, re.DOTALL)
    assert len(drawings) == 7
    for drawing in drawings:
        assert 'role="img"' in drawing
        assert "aria-label" in drawing
    assert re.search(r"<title>\d\d:00: 1 delivered</title>", part)


def test_bars_are_in_proportion_and_the_smallest_is_seen() -> None:
    drawn = row([1000, 500, 1, 0], ["a", "b", "c", "d"], tone="red", height=100, top=top_of([1000, 500, 1, 0]))

    assert [bar.height for bar in drawn.bars] == [100, 50, 2]
    assert [bar.y + bar.height for bar in drawn.bars] == [100, 100, 100]
    assert len({bar.x for bar in drawn.bars}) == 3


@pytest.mark.parametrize(
    ("most", "top"), [(0, 1), (1, 1), (3, 5), (7, 10), (10, 10), (11, 20), (999, 1000), (1001, 2000)]
)
def test_a_chart_ends_at_a_round_number_that_holds_all(most: int, top: int) -> None:
    assert top_of([0, most], []) == top


def test_statuses_that_people_settled_since_do_not_change_what_happened(
    viewer: RoleClient, destination: Destination
) -> None:
    life = unknown(destination)
    sums.count_hours("worker")
    older(f"UPDATE export_jobs SET status = '{Status.COMPLETED}' WHERE id = '{life.job.id}'")
    sums.count_hours("worker")

    found = dict(CELL.findall(viewer.get(OVERVIEW).content.decode()))

    addresses = [address for address in found if "OutcomeUnknown" in address]
    assert len(listed(viewer, addresses[0])) == 1
    assert not [address for address in found if "Completed" in address]
    assert ExportJob.objects.get(id=life.job.id).status == Status.COMPLETED
