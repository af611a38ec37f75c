"""A second person confirms or turns down; names and states of destinations are changed from what was looked at."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.admin.models import LogEntry

from exports.models import ContractDecision, Destination
from tests.agreed.agreeing import in_force, propose
from tests.console.pages import fields_of, fill, text_of
from tests.console.partner_fixtures import _nothing_speaks_against_it, ann, bob, keyring
from tests.console.partners import PLACES, VERSIONS, screen, version_screen
from tests.people import a_tenant

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.routing import RoleClient


__all__ = ["_nothing_speaks_against_it", "ann", "bob", "keyring"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def test_nobody_confirms_their_own(ann: RoleClient, destination: Destination) -> None:
    first = propose(destination)

    assert "You have written this yourself" in text_of(ann.get(version_screen(first, "confirm")))
    answer = ann.post(version_screen(first, "confirm"), {"reason": "I am sure"})

    assert answer.status_code == 409
    assert "Another person has to confirm it." in text_of(answer)
    assert in_force(destination) is None


def test_a_setting_lets_one_person_do_both_and_the_page_says_so(
    ann: RoleClient, destination: Destination, settings: Any
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, allow_same_person_confirmation=True)
    first = propose(destination)
    assert "it is recorded that one person did both" in text_of(ann.get(version_screen(first, "confirm")))

    fill(ann, version_screen(first, "confirm"), reason="there is only me")

    assert in_force(destination) == first.id
    assert ContractDecision.objects.get().is_one_person
    assert "one person, as a setting allows" in text_of(ann.get(f"{PLACES}{destination.id}/change/"))


def test_what_has_not_been_tested_is_not_confirmed(
    bob: RoleClient, destination: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.admin.agreed.deciding.activation_problems", lambda *_: ["Not tested."])
    first = propose(destination)

    assert "Not tested." in text_of(bob.get(version_screen(first, "confirm")))
    answer = bob.post(version_screen(first, "confirm"), {"reason": "x"})

    assert answer.status_code == 409
    assert "It cannot come into force yet. Nothing was done." in text_of(answer)
    assert in_force(destination) is None


def test_a_version_is_turned_down_with_a_reason(bob: RoleClient, destination: Destination) -> None:
    first = propose(destination)

    fill(bob, version_screen(first, "decline"), reason="the key is not theirs")

    shown = text_of(bob.get(f"{PLACES}{destination.id}/change/"))
    assert "turned down by user:bob" in shown
    assert "the key is not theirs" in shown
    told = text_of(bob.get(version_screen(first, "confirm")))
    assert "This version is decided already." in told


def test_who_confirms_what_was_changed_again_is_told(bob: RoleClient, destination: Destination) -> None:
    first = propose(destination)
    opened = bob.get(version_screen(first, "confirm"))
    propose(destination)

    answer = bob.post(version_screen(first, "confirm"), {**fields_of(opened), "reason": "looks right"})

    assert answer.status_code == 409
    assert "user:ann wrote version 2 since." in text_of(answer)
    assert in_force(destination) is None


def test_a_destination_is_renamed_and_closed_with_a_reason(ann: RoleClient, destination: Destination) -> None:
    fill(ann, screen(destination, "settings"), name="Another name", state="closed", reason="they went out of business")

    destination.refresh_from_db()
    assert (destination.name, destination.is_enabled) == ("Another name", False)
    entry = LogEntry.objects.get()
    assert (entry.user.username, "Why: they went out of business" in entry.change_message) == ("ann", True)


def test_a_change_of_what_was_changed_since_is_not_made(ann: RoleClient, destination: Destination) -> None:
    opened = fields_of(ann.get(screen(destination, "settings")))
    Destination.objects.filter(id=destination.id).update(is_enabled=False)

    answer = ann.post(screen(destination, "settings"), {**opened, "name": "mine", "reason": "x"})

    assert answer.status_code == 409
    assert "Somebody changed it while you looked at it." in text_of(answer)
    destination.refresh_from_db()
    assert (destination.name != "mine", destination.is_enabled) == (True, False)


@pytest.mark.parametrize("path", ["new", "settings"])
def test_a_name_is_given_once_in_a_tenant(ann: RoleClient, tenant: Tenant, destination: Destination, path: str) -> None:
    taken = Destination.objects.create(tenant=tenant, name="taken")
    address = f"{PLACES}new/" if path == "new" else screen(destination, path)

    answer = fill(ann, address, name=taken.name, reason="x")

    assert answer.status_code == 400
    assert "Another destination of this tenant has this name." in text_of(answer)
    assert Destination.objects.count() == 2


def test_a_page_that_has_created_one_creates_no_second(ann: RoleClient) -> None:
    filled = {**fields_of(ann.get(f"{PLACES}new/")), "name": "first"}

    answers = [ann.post(f"{PLACES}new/", {**filled, "name": name}) for name in ("first", "first", "second")]

    assert [answer.status_code for answer in answers] == [302, 302, 400]
    assert "This page has created a destination already." in text_of(answers[2])
    assert Destination.objects.get().name == "first"


def test_a_destination_is_made_in_ones_own_tenant_alone(ann: RoleClient) -> None:
    foreign = a_tenant()

    answer = fill(ann, f"{PLACES}new/", name="n", tenant=str(foreign.id))

    assert answer.status_code == 400
    assert not Destination.objects.exists()


def test_the_page_of_a_destination_is_the_one_place(bob: RoleClient, destination: Destination) -> None:
    first = propose(destination)

    page = bob.get(f"{PLACES}{destination.id}/change/").content.decode()

    ways = [version_screen(first, "confirm"), version_screen(first, "decline")]
    ways += [screen(destination, name) for name in ("contract", "credential", "probe", "settings")]
    ways += [f"/admin/exports/hold/pause/?destination={destination.id}", "/admin/exports/hold/freeze/"]
    assert [way for way in ways if way not in page] == []


def test_an_unknown_version_is_missing(bob: RoleClient) -> None:
    for name in ("confirm", "decline"):
        assert bob.get(f"{VERSIONS}{uuid.uuid4()}/{name}/").status_code == 404
