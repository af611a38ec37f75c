"""Cancelling in a real browser: every click tells what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.models import CancellationRequest, ExportJob
from exports.states import Status
from tests.lives import delivering, running
from tests.people import a_person, an_export

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import Destination, Tenant
    from tests.browser.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def page_of(job: ExportJob) -> str:
    return f"/admin/exports/exportjob/{job.id}/cancel/"


def test_a_waiting_export_is_cancelled_from_its_page(operator: Visitor, destination: Destination) -> None:
    job = an_export(destination)
    page = operator.open(f"/admin/exports/exportjob/{job.id}/change/")
    operator.shoot("job-queued")

    page.get_by_role("link", name="Cancel…").click()
    page.get_by_label("Why").fill("The partner called: wrong list.")
    operator.shoot("cancel-queued")
    page.get_by_role("button", name="Cancel this export").click()

    page.wait_for_url("**/cancel/*-*/")
    assert "Cancelled. It had not started; nothing was sent." in operator.text()
    operator.shoot("cancel-answer-queued")
    assert ExportJob.objects.get(id=job.id).status == Status.CANCELED


def test_a_double_click_is_one_request(operator: Visitor, destination: Destination) -> None:
    job = an_export(destination)
    page = operator.open(page_of(job))

    page.get_by_role("button", name="Cancel this export").dblclick()

    page.wait_for_url("**/cancel/*-*/")
    assert "Cancelled. It had not started" in operator.text()
    assert CancellationRequest.objects.count() == 1


def test_going_back_and_sending_again_shows_the_same_recorded_answer(
    operator: Visitor, destination: Destination
) -> None:
    job = an_export(destination)
    page = operator.open(page_of(job))
    page.get_by_role("button", name="Cancel this export").click()
    page.wait_for_url("**/cancel/*-*/")
    answered = page.url

    page.go_back()
    page.wait_for_url("**/cancel/")
    assert "You have made this request before." in operator.text()
    operator.shoot("cancel-back")
    page.get_by_role("button", name="Record my request all the same").click()

    page.wait_for_url("**/cancel/*-*/")
    assert page.url == answered
    assert "Cancelled. It had not started; nothing was sent." in operator.text()
    assert CancellationRequest.objects.count() == 1


def test_two_windows_show_the_same_recorded_answer(operator: Visitor, destination: Destination) -> None:
    job = running(destination).job
    windows = [operator.page, operator.window()]
    for page in windows:
        page.goto(page_of(job))

    for page in windows:
        page.get_by_role("button", name="Ask it to stop").click()
        page.wait_for_url("**/cancel/*-*/")
        assert "Your request to stop is recorded." in operator.text(page)

    assert windows[0].url == windows[1].url
    assert CancellationRequest.objects.count() == 1


def test_a_request_to_stop_is_followed_by_its_page_until_the_export_has_stopped(
    operator: Visitor, destination: Destination
) -> None:
    life = running(destination)
    page = operator.open(page_of(life.job))
    page.get_by_role("button", name="Ask it to stop").click()
    page.wait_for_url("**/cancel/*-*/")
    assert "This page follows it." in operator.text()
    operator.shoot("cancel-answer-running")

    life.stop()

    page.locator(".state-strip", has_text="Stopped before delivery. Nothing was sent.").wait_for()
    assert page.get_by_role("status").inner_text() == "Stopped before delivery. Nothing was sent."
    page.get_by_text("It has ended; nothing changes here any more.").wait_for()
    operator.shoot("cancel-answer-stopped")


def test_following_can_be_paused_and_taken_up_again(operator: Visitor, destination: Destination) -> None:
    life = running(destination)
    page = operator.open(page_of(life.job))
    page.get_by_role("button", name="Ask it to stop").click()
    page.wait_for_url("**/cancel/*-*/")
    page.get_by_role("button", name="Pause").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    life.stop()
    page.clock.install()
    page.clock.run_for(120_000)

    assert asked == []
    page.get_by_role("button", name="Go on refreshing").click()
    page.clock.run_for(10)
    page.locator(".state-strip", has_text="Stopped before delivery. Nothing was sent.").wait_for()


def test_too_late_says_so_and_what_is_known(operator: Visitor, destination: Destination) -> None:
    job = delivering(destination).job
    page = operator.open(page_of(job))
    operator.shoot("cancel-delivering")

    page.get_by_role("button", name="Record my request all the same").click()

    page.wait_for_url("**/cancel/*-*/")
    assert "Too late to stop: delivery was authorized at about" in operator.text()
    assert "What is known of the delivery: Being delivered." in operator.text()
    operator.shoot("cancel-answer-late")


def test_without_a_mouse_the_whole_way_is_open(operator: Visitor, destination: Destination) -> None:
    job = an_export(destination)
    page = operator.open(f"/admin/exports/exportjob/{job.id}/change/")

    def press_until(text: str) -> None:
        """Press Tab until the focus is on something with this text, as it is seen."""
        for _ in range(60):
            page.keyboard.press("Tab")
            seen = page.evaluate("document.activeElement.textContent.trim()")
            if seen == text:
                return
        raise AssertionError(f"Tab never leads to {text}")

    press_until("Cancel…")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cancel/")
    press_until("Cancel this export")
    assert operator.style(":focus", "outlineStyle") != "none"
    page.keyboard.press("Enter")

    page.wait_for_url("**/cancel/*-*/")
    assert "Cancelled." in operator.text()


def test_a_form_that_is_wrong_puts_the_focus_on_what_is_wrong(operator: Visitor, destination: Destination) -> None:
    page = operator.open(page_of(an_export(destination)))
    page.get_by_label("Why").evaluate("each => each.removeAttribute('maxlength')")
    page.get_by_label("Why").fill("x" * 2_001)
    page.get_by_role("button", name="Cancel this export").click()

    page.get_by_role("alert").wait_for()
    assert page.evaluate("document.activeElement.className") == "error-summary"
    operator.shoot("cancel-wrong")
    page.get_by_role("link", name="at most 2000 characters").click()
    assert page.evaluate("document.activeElement.id") == "id_reason"


def test_all_of_it_works_without_a_script(
    visit: Callable[..., Visitor], tenant: Tenant, destination: Destination
) -> None:
    operator = visit(a_person(tenant, group="Export operators"), java_script_enabled=False)
    life = running(destination)
    page = operator.open(page_of(life.job))
    page.get_by_role("button", name="Ask it to stop").click()
    page.wait_for_url("**/cancel/*-*/")
    life.stop()

    page.get_by_role("link", name="Look again").click()

    assert "Stopped before delivery. Nothing was sent." in operator.text()
