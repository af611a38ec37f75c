"""A partner is set up by two people in a real browser, tried, held, and a client gets its token."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.models import Client, Destination, DestinationContract
from exports.secrets import new_key
from tests.agreed.agreeing import in_force, propose
from tests.people import a_caller, a_person
from tests.recovery import lives
from tests.test_contracts import HOST_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import Tenant
    from tests.browser.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

PLACES = "/admin/exports/destination/"
ADMINISTRATORS = "Export administrators"


@pytest.fixture(autouse=True)
def _set_up(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=(new_key(),))
    # What a test of the connection has to show has tests of its own, with real servers.
    monkeypatch.setattr("exports.admin.agreed.deciding.activation_problems", lambda *_: [])


def test_one_person_writes_and_another_confirms(visit: Callable[..., Visitor], tenant: Tenant) -> None:
    ann = visit(a_person(tenant, group=ADMINISTRATORS, username="ann"))
    page = ann.open(PLACES)
    page.get_by_role("link", name="Create a destination…").click()
    page.get_by_label("Name").fill("The mailing house")
    ann.shoot("destination-new")
    page.get_by_role("button", name="Create it").click()
    page.get_by_role("link", name="Store the credential…").click()
    page.get_by_label("Password").fill("a secret between us")
    page.get_by_label("Why").fill("as they sent it")
    ann.shoot("credential")
    page.get_by_role("button", name="Store it").click()
    page.get_by_role("link", name="Write its contract…").click()
    page.get_by_label("Host", exact=True).fill("sftp example")
    page.get_by_label("Public key").first.fill(HOST_KEY)
    page.get_by_label("User").fill("us")
    page.get_by_label("Folder", exact=True).fill("/in")
    page.get_by_label("Why").fill("agreed by mail")
    page.get_by_role("button", name="Go on to check it").click()

    page.get_by_role("alert").wait_for()
    ann.shoot("contract-wrong")
    page.get_by_role("alert").get_by_role("link").first.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("sftp.example.org")
    page.get_by_role("button", name="Go on to check it").click()
    page.get_by_text("Read it once more before it counts").wait_for()
    ann.shoot("contract-check")
    page.get_by_role("button", name="Propose it").click()
    page.get_by_text("Version 1 is recorded.").wait_for()
    ann.shoot("destination-proposed")
    page.get_by_role("link", name="Confirm version 1…").click()
    assert "Another person has to confirm it." in ann.text()

    bob = visit(a_person(tenant, group=ADMINISTRATORS, username="bob"))
    page = bob.open(f"{PLACES}{Destination.objects.get().id}/change/")
    page.get_by_role("link", name="Confirm version 1…").click()
    bob.shoot("confirm")
    page.get_by_label("Why").fill("compared with their letter")
    page.get_by_role("button", name="Confirm it").click()
    page.get_by_text("Version 1 is in force.").wait_for()
    bob.shoot("destination-in-force")

    assert in_force(Destination.objects.get()) == DestinationContract.objects.get().id


def test_the_connection_is_tested_from_a_page_that_follows_it(
    visit: Callable[..., Visitor], tenant: Tenant, destination: Destination
) -> None:
    propose(destination)
    ann = visit(a_person(tenant, group=ADMINISTRATORS, username="ann"))
    page = ann.open(f"{PLACES}{destination.id}/probe/")
    ann.shoot("probe")

    page.get_by_role("button", name="Test the connection").click()

    page.get_by_text("It waits for a worker.").wait_for()
    ann.shoot("probe-waits")
    with page.expect_navigation():  # the browser looks again by itself
        pass


def test_a_client_gets_a_token_that_is_shown_once(visit: Callable[..., Visitor], tenant: Tenant) -> None:
    ann = visit(a_person(tenant, group=ADMINISTRATORS, username="ann"))
    page = ann.open("/admin/exports/client/")
    page.get_by_role("link", name="Create a client system…").click()
    page.get_by_label("Name", exact=True).fill("crm")
    page.get_by_label(tenant.name).check()
    ann.shoot("client-new")
    page.get_by_role("button", name="Create it").click()
    page.get_by_text("Shown now, and never again").wait_for()
    ann.shoot("client-token")
    token = page.locator("pre.raw").inner_text()
    page.get_by_role("link", name="I have kept it").click()
    ann.shoot("client")
    assert token not in ann.text()
    page.get_by_role("link", name="Revoke token").click()
    page.get_by_label("Why").fill("only to try it")
    ann.shoot("client-revoke")
    page.get_by_role("button", name="Revoke it").click()
    page.get_by_text("Revoked: token").wait_for()


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("light", {"color_scheme": "light"}),
        ("dark", {"color_scheme": "dark"}),
        ("narrow", {"viewport": {"width": 320, "height": 700}}),
    ],
)
def test_the_pages_of_partners_and_clients_work_in_the_dark_and_narrow(
    visit: Callable[..., Visitor], tenant: Tenant, destination: Destination, name: str, context: dict[str, Any]
) -> None:
    version = propose(destination)
    client = Client.objects.get(user=a_caller(tenant).user)
    person = visit(a_person(is_superuser=True), **context)
    pages = {
        "destination": f"{PLACES}{destination.id}/change/",
        "destination-new": f"{PLACES}new/",
        "contract": f"{PLACES}{destination.id}/contract/",
        "credential": f"{PLACES}{destination.id}/credential/",
        "settings": f"{PLACES}{destination.id}/settings/",
        "probe": f"{PLACES}{destination.id}/probe/",
        "confirm": f"/admin/exports/destinationcontract/{version.id}/confirm/",
        "decline": f"/admin/exports/destinationcontract/{version.id}/decline/",
        "client": f"/admin/exports/client/{client.id}/change/",
        "client-new": "/admin/exports/client/new/",
        "client-access": f"/admin/exports/client/{client.id}/access/",
        "client-issue": f"/admin/exports/client/{client.id}/tokens/new/",
        "membership-new": "/admin/exports/membership/new/",
    }

    wrong: list[str] = []
    for label, path in pages.items():
        page = person.open(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        wrong += [f"{label}: scrolls sideways by {wide} px"] * (wide > 0)
        wrong += [f"{label}: {each}" for each in person.audit()]
        person.shoot(f"{name}-partners-{label}")
    assert wrong == []
