"""Signing in with a second factor, in a real browser; and being asked for it again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.states import Status
from tests.factors import a_factor, code_of, code_of_letters
from tests.lives import delivered, unknown
from tests.people import a_person
from tests.recovery import lives

if TYPE_CHECKING:
    from collections.abc import Callable

    from django_otp.plugins.otp_totp.models import TOTPDevice

    from exports.models import Destination, ExportJob, Tenant
    from tests.browser.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

LIST = "/admin/exports/exportjob/"


@pytest.fixture(autouse=True)
def _asked_for(settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, second_factor=True)


@pytest.fixture
def somebody(visit: Callable[..., Visitor]) -> Visitor:
    """Return the window of somebody who has not signed in."""
    return visit(None)


def give(person: Visitor, code: str) -> None:
    person.page.get_by_label("Code from your app").fill(code)
    person.page.locator("#act-form button[type=submit]").click()


def test_the_first_sign_in_sets_the_factor_up_and_every_next_one_asks_for_it(
    somebody: Visitor, visit: Callable[..., Visitor], tenant: Tenant
) -> None:
    rita = a_person(tenant, group="Reconciliation staff", username="rita")
    somebody.give_password("rita")
    page = somebody.page
    page.get_by_role("heading", name="Set up your second factor").wait_for()
    assert page.get_by_role("img", name="QR code").bounding_box() is not None
    somebody.inspect("second-factor-set-up")
    give(somebody, "000000")
    page.get_by_role("alert").wait_for()
    somebody.inspect("second-factor-wrong")
    give(somebody, code_of_letters(page.locator("code.id").inner_text()))
    page.wait_for_url(f"**{LIST}")
    page.get_by_role("button", name="Log out").click()

    again = visit(None)
    again.give_password("rita")
    again.page.get_by_role("heading", name="Enter your code").wait_for()
    again.inspect("second-factor-give")
    give(again, code_of(rita.totpdevice_set.get(), ahead=1))
    again.page.wait_for_url(f"**{LIST}")
    assert again.page.get_by_text("rita").count()


def settle(job: ExportJob, person: Visitor, verb: str, button: str) -> None:
    page = person.open(f"{LIST}{job.id}/{verb}/")
    page.get_by_label("It was not delivered").check()
    page.get_by_label("What it rests on").fill("ticket 9")
    page.get_by_label("Why", exact=True).fill("The partner never had it.")
    if verb == "reconcile":
        page.get_by_label("Why otherwise").fill("The evidence proves nothing.")
    page.get_by_role("button", name="Go on to check it").click()
    page.get_by_role("button", name=button).wait_for()


VERBS: dict[str, tuple[str, Any]] = {
    "reconcile": ("Record it", unknown),
    "correct": ("Correct the record", delivered),
}


@pytest.fixture
def device(tenant: Tenant) -> TOTPDevice:
    return a_factor(a_person(tenant, group="Reconciliation staff", username="rita"))


@pytest.mark.parametrize("verb", VERBS)
def test_the_factor_is_asked_for_again_before_it_counts_and_nothing_typed_is_lost(
    somebody: Visitor, device: TOTPDevice, destination: Destination, settings: Any, verb: str
) -> None:
    button, ended = VERBS[verb]
    job = ended(destination).job
    somebody.give_password("rita")
    give(somebody, code_of(device))
    somebody.page.wait_for_url(f"**{LIST}")
    settle(job, somebody, verb, button)
    before = lives.now(job.id).status
    # Five minutes have passed at the screen on which it is confirmed.
    settings.EXPORTS = replace(settings.EXPORTS, step_up_seconds=0.001)

    somebody.page.get_by_role("button", name=button).click()
    somebody.page.get_by_role("heading", name="Is it still you?").wait_for()
    assert lives.now(job.id).status == before
    somebody.inspect(f"second-factor-again-{verb}")
    settings.EXPORTS = replace(settings.EXPORTS, step_up_seconds=300.0)
    give(somebody, code_of(device, ahead=1))

    somebody.page.wait_for_url("**/change/")
    assert lives.now(job.id).status == Status.FAILED


def test_too_many_wrong_passwords_are_told_in_words(somebody: Visitor, tenant: Tenant) -> None:
    a_person(tenant, username="rita")
    page = somebody.open("/admin/login/")
    somebody.inspect("login")
    for _ in range(5):
        page.get_by_label("Username").fill("rita")
        page.get_by_label("Password").fill("not the password")
        with page.expect_navigation():
            page.get_by_role("button", name="Log in").click()
        if page.get_by_text("Please enter the correct").count():
            somebody.inspect("login-wrong")

    assert "Try again in 15 minutes." in somebody.text()
    somebody.inspect("login-refused")
