"""Every answer a click on cancel can get, reached by clicking, while a real worker is held at a point of its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.disposition import Disposition
from exports.models import CancellationRequest, Membership
from exports.states import CancellationOutcome, Status
from tests.faults.fixtures import waking, world
from tests.faults.waking import standing_at
from tests.faults.world import kinds, now
from tests.people import a_person
from tests.recovery.sessions import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import ExportJob
    from tests.browser.visiting import Visitor
    from tests.faults.waking import Waking
    from tests.faults.world import World

__all__ = ["waking", "world"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


@pytest.fixture
def olga(visit: Callable[..., Visitor], world: World) -> Visitor:
    return visit(a_person(world.tenant, group="Export operators", username="olga"))


@pytest.fixture
def otto(visit: Callable[..., Visitor], world: World) -> Visitor:
    return visit(a_person(world.tenant, group="Export operators", username="otto"))


def click(person: Visitor, job: ExportJob) -> str:
    """Open the cancel page and click whatever its button says; the text of what comes back."""
    page = person.open(f"/admin/exports/exportjob/{job.id}/cancel/")
    page.locator("#act-form button[type=submit]").click()
    page.wait_for_url("**/cancel/*-*/")
    return person.text()


def outcomes(job: ExportJob) -> list[str]:
    clicks = CancellationRequest.objects.filter(job_id=job.id).order_by("recorded_at")
    return list(clicks.values_list("outcome", flat=True))


def test_a_click_before_the_worker_comes_leaves_it_nothing_to_do(
    olga: Visitor, otto: Visitor, world: World, waking: Waking
) -> None:
    job = world.queued()

    assert "Cancelled. It had not started; nothing was sent." in click(olga, job)
    assert waking.run(job) is Disposition.SETTLED
    assert "It had already been cancelled by user:olga" in click(otto, job)

    assert kinds(job) == []
    assert world.arrived() == []
    assert outcomes(job) == [CancellationOutcome.CANCELED_WHILE_QUEUED, CancellationOutcome.ALREADY_CANCELED]


def test_a_worker_that_builds_is_asked_to_stop_and_the_page_follows_until_it_has(
    olga: Visitor, otto: Visitor, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("build.before") as building:
        running = waking.start(job)
        building.wait()
        assert "Your request to stop is recorded." in click(olga, job)
        assert "user:olga asked it to stop" in click(otto, job)
        assert "Asked to stop" in olga.page.locator(".state-strip").inner_text()
        building.let_go()
        running.result()

    olga.page.locator(".state-strip", has_text="Stopped before delivery. Nothing was sent.").wait_for()
    assert "It had already ended: Stopped before delivery. Nothing was sent." in click_anew(olga, job)
    assert world.arrived() == []
    assert outcomes(job) == [
        CancellationOutcome.STOP_REQUESTED,
        CancellationOutcome.STOP_ALREADY_REQUESTED,
        CancellationOutcome.ALREADY_ENDED,
    ]


def click_anew(person: Visitor, job: ExportJob) -> str:
    """Make a new request, as the page offers to whoever has made one before."""
    page = person.open(f"/admin/exports/exportjob/{job.id}/cancel/")
    page.get_by_role("link", name="Make a new request").click()
    page.locator("#act-form button[type=submit]").click()
    page.wait_for_url("**/cancel/*-*/")
    return person.text()


def test_a_click_after_the_authorization_is_too_late_and_the_page_follows_until_it_is_delivered(
    olga: Visitor, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("authorize.after") as authorized:
        running = waking.start(job)
        authorized.wait()
        told = click(olga, job)
        assert "Too late to stop: delivery was authorized at about" in told
        assert "What is known of the delivery: Being delivered. It can no longer be stopped." in told
        authorized.let_go()
        running.result()

    olga.page.locator(".state-strip", has_text="Delivered: the file at the partner has the same hash.").wait_for()
    assert now(job).status == Status.COMPLETED
    assert world.arrived_as_recorded(job)
    assert outcomes(job) == [CancellationOutcome.TOO_LATE]


def test_a_stop_request_that_comes_before_the_authorization_wins(olga: Visitor, world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("authorize.before") as asking:
        running = waking.start(job)
        asking.wait()
        assert "Your request to stop is recorded." in click(olga, job)
        asking.let_go()
        running.result()

    olga.page.locator(".state-strip", has_text="Stopped before delivery. Nothing was sent.").wait_for()
    assert now(job).delivery_authorized_at is None
    assert world.arrived() == []


def test_a_click_while_somebody_holds_the_row_is_busy_and_the_same_click_is_made_again(
    olga: Visitor, world: World
) -> None:
    job = world.queued()
    page = olga.open(f"/admin/exports/exportjob/{job.id}/cancel/")
    page.get_by_label("Why").fill("The partner called.")
    minted = page.locator("input[name=request_id]").input_value()
    with session("default") as holder:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [job.id])
        page.get_by_role("button", name="Cancel this export").click()
        page.get_by_role("alert").wait_for()
        assert "We could not tell. Nothing was recorded. Try again: the same click is used." in olga.text()
        assert outcomes(job) == []
        holder.execute("ROLLBACK")
    olga.shoot("cancel-busy")

    page.get_by_role("button", name="Try again").click()

    page.wait_for_url(f"**/cancel/{minted}/")
    assert "Cancelled. It had not started; nothing was sent." in olga.text()
    assert CancellationRequest.objects.get(id=minted).reason == "The partner called."


def test_a_click_on_an_export_that_is_not_ones_own_any_more_finds_none(olga: Visitor, world: World) -> None:
    job = world.queued()
    page = olga.open(f"/admin/exports/exportjob/{job.id}/cancel/")
    Membership.objects.all().delete()

    page.get_by_role("button", name="Cancel this export").click()

    page.get_by_text("There is no such export here").wait_for()
    olga.shoot("cancel-not-found")
    assert outcomes(job) == []
    assert now(job).status == Status.QUEUED


def test_a_request_id_of_another_click_does_nothing(olga: Visitor, world: World) -> None:
    other, job = world.queued(), world.queued()
    click(olga, other)
    taken = CancellationRequest.objects.get(job_id=other.id).id
    page = olga.open(f"/admin/exports/exportjob/{job.id}/cancel/")
    page.locator("input[name=request_id]").evaluate("(each, id) => { each.value = id; }", str(taken))

    page.get_by_role("button", name="Cancel this export").click()

    page.get_by_role("alert").wait_for()
    assert "This request id belongs to another request. Nothing was done." in olga.text()
    olga.shoot("cancel-reused")
    assert now(job).status == Status.QUEUED
