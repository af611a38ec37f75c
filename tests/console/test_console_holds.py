"""Pausing, freezing, resuming, and letting a guarded export go on: who may, what it says, what it writes (I5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exports.holds.opening import hold_guarded, hold_unreachable
from exports.holds.reading import hold_on, was_let_go_on
from exports.holds.waking import run_once
from exports.models import ExportJob, Hold, OutboxMessage
from exports.states import HoldCause
from tests.console.pages import fields_of, fill, one_of, signed_in, text_of
from tests.people import a_destination, a_person, a_tenant, an_export
from tests.recovery import lives

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

HOLDS = "/admin/exports/hold/"


@pytest.fixture
def administrator(tenant: Tenant) -> RoleClient:
    return one_of("Export administrators", tenant, username="ada")


def pause_of(thing: Destination | Tenant) -> str:
    return f"{HOLDS}pause/?{thing._meta.model_name}={thing.id}"


def end_of(hold: Hold) -> str:
    return f"{HOLDS}{hold.id}/end/"


def job_page(browser: RoleClient, job: ExportJob) -> str:
    return text_of(browser.get(f"/admin/exports/exportjob/{job.id}/change/"))


def a_guard(job: ExportJob, words: str = "The file has no contacts.") -> Hold:
    hold_guarded(job, words, "worker-1", "worker")
    return Hold.objects.get(job_id=job.id)


@pytest.mark.parametrize("kind", ["destination", "tenant"])
def test_a_paused_destination_or_tenant_keeps_its_exports_waiting_and_says_why(
    administrator: RoleClient, destination: Destination, tenant: Tenant, kind: str
) -> None:
    job, thing = an_export(destination), destination if kind == "destination" else tenant
    elsewhere = an_export(a_destination(a_tenant()))

    answer = fill(administrator, pause_of(thing), reason="The partner moves.")

    assert answer["Location"] == f"/admin/exports/{kind}/{thing.id}/change/"
    hold = Hold.objects.get()
    assert (hold.cause, hold.created_by, hold.reason) == (HoldCause.PAUSED, "user:ada", "The partner moves.")
    assert hold_on(job, "worker") == hold
    assert hold_on(elsewhere, "worker") is None
    shown = administrator.get(answer["Location"])
    assert f"Paused: {kind}" in text_of(shown)
    assert end_of(hold) in shown.content.decode()
    assert "Waiting, held: The partner moves (since just now" in job_page(administrator, job)


def test_resuming_takes_a_reason_and_wakes_what_waited(administrator: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    fill(administrator, pause_of(destination), reason="The partner moves.")
    lives.age(job, seconds=60)
    hold = Hold.objects.get()

    assert fill(administrator, end_of(hold)).status_code == 400
    answer = fill(administrator, end_of(hold), reason="It has moved.")

    assert answer["Location"] == f"/admin/exports/destination/{destination.id}/change/"
    hold.refresh_from_db()
    assert (hold.ended_by, hold.ended_reason, hold.released_at) == ("user:ada", "It has moved.", None)
    assert hold_on(job, "worker") is None
    run_once(10, "worker")
    assert OutboxMessage.objects.filter(job_id=job.id).count() == 2


def test_the_page_says_what_a_pause_will_do_before_it_does_it(
    administrator: RoleClient, destination: Destination
) -> None:
    for _ in range(3):
        an_export(destination)

    told = text_of(administrator.get(pause_of(destination)))

    assert "3 wait there now." in told
    assert "Those that have started (0 being prepared) go on." in told
    assert Hold.objects.count() == 0


def test_a_double_click_is_one_pause_and_pausing_again_later_is_another(
    administrator: RoleClient, destination: Destination
) -> None:
    form = {**fields_of(administrator.get(pause_of(destination))), "reason": "The partner moves."}
    for _ in range(2):
        assert administrator.post(pause_of(destination), form).status_code == 302
    first = Hold.objects.get()
    assert "It is held already." in text_of(administrator.get(pause_of(destination)))
    fill(administrator, end_of(first), reason="It has moved.")

    fill(administrator, pause_of(destination), reason="It moves again.")

    assert Hold.objects.count() == 2
    assert Hold.objects.get(ended_at=None).reason == "It moves again."


def test_the_freeze_holds_everything_and_stands_on_every_page(
    administrator: RoleClient, viewer: RoleClient, destination: Destination
) -> None:
    job, foreign = an_export(destination), an_export(a_destination(a_tenant()))
    assert f"{HOLDS}freeze/" in administrator.get(HOLDS).content.decode()

    answer = fill(administrator, f"{HOLDS}freeze/", reason="A wrong list went out.")

    assert answer["Location"] == HOLDS
    hold = Hold.objects.get()
    assert (hold.cause, hold.tenant_id, hold.destination_id) == (HoldCause.FROZEN, None, None)
    assert [hold_on(each, "worker") for each in (job, foreign)] == [hold, hold]
    for browser in (administrator, viewer):
        told = text_of(browser.get("/admin/exports/exportjob/"))
        assert "Everything is frozen since" in told
        assert "by user:ada: A wrong list went out." in told
    assert end_of(hold) in administrator.get("/admin/").content.decode()
    assert end_of(hold) not in viewer.get("/admin/").content.decode()

    fill(administrator, end_of(hold), reason="The list is right.")

    assert "Everything is frozen" not in text_of(viewer.get("/admin/"))
    assert hold_on(job, "worker") is None


def test_an_operator_lets_a_guarded_version_go_on_with_a_reason(operator: RoleClient, destination: Destination) -> None:
    job = an_export(destination)
    hold = a_guard(job)
    other = an_export(destination)

    shown = operator.get(f"/admin/exports/exportjob/{job.id}/change/")
    assert "Waiting, held: The file has no contacts (since just now" in text_of(shown)
    assert end_of(hold) in shown.content.decode()
    assert "held:" not in job_page(operator, other)
    answer = fill(operator, end_of(hold), reason="There are none this week.")

    assert answer["Location"] == f"/admin/exports/exportjob/{job.id}/change/"
    hold.refresh_from_db()
    assert (hold.ended_by, hold.ended_reason) == ("user:olga", "There are none this week.")
    assert was_let_go_on(job, "worker")
    assert not was_let_go_on(other, "worker")


def test_an_operator_ends_no_pause_and_an_administrator_no_guard(
    operator: RoleClient, administrator: RoleClient, destination: Destination
) -> None:
    pause = Hold.objects.create(destination=destination, reason="A pause.", created_by="user:ann")
    guard = a_guard(an_export(destination))
    sent = {"reason": "because"}

    assert operator.post(end_of(pause), sent).status_code == 403
    assert administrator.post(end_of(guard), sent).status_code == 403
    assert operator.get(pause_of(destination)).status_code == 403
    assert operator.post(f"{HOLDS}freeze/", sent).status_code == 403
    assert Hold.objects.filter(ended_at=None).count() == 2
    assert end_of(pause) not in operator.get(HOLDS).content.decode()
    assert end_of(pause) in administrator.get(HOLDS).content.decode()


def test_a_full_destinations_hold_is_the_machines_to_end(administrator: RoleClient, destination: Destination) -> None:
    full = Hold.objects.create(destination=destination, cause=HoldCause.CAP, reason="Full.", created_by="worker-1")

    assert administrator.post(end_of(full), {"reason": "now"}).status_code == 403
    assert end_of(full) not in administrator.get(HOLDS).content.decode()


def test_a_destination_nobody_answered_at_can_be_tried_again_now(
    administrator: RoleClient, destination: Destination
) -> None:
    job = an_export(destination)
    hold_unreachable(job, "no route to host", "worker-1", "worker")
    hold = Hold.objects.get()

    assert fill(administrator, end_of(hold), reason="Their firewall is fixed.").status_code == 302
    assert hold_on(job, "worker") is None


def test_whoever_comes_second_is_told_who_ended_it_and_why(
    administrator: RoleClient, tenant: Tenant, destination: Destination
) -> None:
    hold = Hold.objects.create(destination=destination, reason="A pause.", created_by="user:ann")
    other = one_of("Export administrators", tenant, username="abel")
    fill(administrator, end_of(hold), reason="It has moved.")

    answer = other.post(end_of(hold), {"reason": "mine"})

    assert answer.status_code == 409
    assert "user:ada ended it just now" in text_of(answer)
    assert "Why: It has moved." in text_of(answer)
    assert "This hold has ended already." in text_of(other.get(end_of(hold)))
    hold.refresh_from_db()
    assert hold.ended_by == "user:ada"


def test_another_tenants_things_are_missing_and_so_is_what_was_never_there(administrator: RoleClient) -> None:
    foreign = a_tenant()
    there = a_destination(foreign)
    hold = Hold.objects.create(destination=there, reason="A pause.", created_by="user:ann")
    missing = f"{HOLDS}{foreign.id}/end/"
    pages = [
        pause_of(there),
        pause_of(foreign),
        f"{HOLDS}pause/",
        f"{HOLDS}pause/?destination=x",
        end_of(hold),
        missing,
    ]

    for page in pages:
        assert administrator.get(page).status_code == 404, page
        assert administrator.post(page, {"reason": "x"}).status_code == 404, page
    hold.refresh_from_db()
    assert hold.ended_at is None
    assert Hold.objects.count() == 1


def test_an_id_of_another_hold_is_refused(administrator: RoleClient, destination: Destination) -> None:
    taken = Hold.objects.create(destination=a_destination(a_tenant()), reason="A pause.", created_by="user:ann")

    answer = administrator.post(pause_of(destination), {"hold_id": str(taken.id), "reason": "mine"})

    assert answer.status_code == 409
    assert "This request id belongs to another hold." in text_of(answer)
    assert Hold.objects.count() == 1


@pytest.mark.parametrize("state", ["open", "ended"])
def test_the_list_can_be_narrowed_to_what_holds_now(
    administrator: RoleClient, destination: Destination, state: str
) -> None:
    holds: dict[str, Any] = {
        "open": Hold.objects.create(destination=destination, reason="Still.", created_by="user:ann"),
        "ended": Hold.objects.create(destination=destination, reason="No more.", created_by="user:ann"),
    }
    fill(administrator, end_of(holds["ended"]), reason="x")

    told = text_of(administrator.get(HOLDS, {"state": state}))

    assert ("Still." in told, "No more." in told) == (state == "open", state == "ended")


def test_a_superuser_may_end_whatever_people_end(destination: Destination) -> None:
    browser = signed_in(a_person(is_superuser=True, username="root"))
    for hold in (
        a_guard(an_export(destination)),
        Hold.objects.create(destination=destination, reason="A pause.", created_by="user:ann"),
    ):
        assert fill(browser, end_of(hold), reason="x").status_code == 302
