"""Every address about destinations, clients and memberships, by each group, for its own and another tenant."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from knox.models import AuthToken

from exports.groups import GROUPS
from exports.models import (
    Client,
    ContractDecision,
    Destination,
    DestinationContract,
    DestinationSecret,
    Membership,
    ProbeRequest,
)
from tests.agreed.agreeing import propose
from tests.console.pages import one_of, signed_in
from tests.console.test_console_walk_verbs import names_of
from tests.people import a_caller, a_destination, a_person, a_tenant
from tests.recovery import lives

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

ADMINISTRATORS = "Export administrators"
WRONG = {"confirmed": "yes"}
"""What every form refuses for want of its reason or its hidden parts."""


@dataclass(frozen=True)
class World:
    """The addresses that name one tenant's things, by table and name."""

    addresses: dict[tuple[str, str], str]


def furnish(tenant: Tenant) -> World:
    destination = a_destination(tenant)
    contract = propose(destination)
    caller = a_caller(tenant)
    client = Client.objects.get(user=caller.user)
    token = AuthToken.objects.get(user=caller.user)
    person = a_person(tenant)
    member = Membership.objects.get(user=person)
    keys: dict[tuple[str, str], list[Any]] = {
        **{("destination", name): [destination.id] for name in ("contract", "credential", "probe", "settings")},
        **{("destinationcontract", name): [contract.id] for name in ("confirm", "decline")},
        **{("client", name): [client.id] for name in ("access", "issue")},
        ("client", "revoke"): [client.id, token.token_key],
        ("membership", "remove"): [member.id],
    }
    return World({key: reverse(f"admin:exports_{'_'.join(key)}", args=args) for key, args in keys.items()})


NEW = ("destination", "client", "membership")


def written() -> tuple[int, ...]:
    tables: tuple[Any, ...] = (
        Destination,
        DestinationContract,
        DestinationSecret,
        ContractDecision,
        ProbeRequest,
        Client,
        Membership,
        AuthToken,
        LogEntry,
    )
    return tuple(table.objects.count() for table in tables)


def test_no_address_is_left_out_of_the_walk() -> None:
    walked = {*furnish(a_tenant()).addresses, *((table, "new") for table in NEW)}

    tables = ("destination", "destinationcontract", "client", "membership", "tenant", "contact")
    assert walked == {(table, name) for table in tables for name in names_of(table)}


@pytest.mark.parametrize("group", GROUPS)
def test_each_address_opens_to_administrators_of_its_tenant_alone(group: str) -> None:
    mine = a_tenant()
    own, foreign = furnish(mine), furnish(a_tenant())
    browser = one_of(group, mine)
    may = group == ADMINISTRATORS
    before = written()

    for key, address in own.addresses.items():
        assert browser.get(address).status_code == (200 if may else 403), key
        assert browser.post(address, WRONG).status_code == (400 if may else 403), key
    for key, address in foreign.addresses.items():
        for method in (browser.get, browser.post):
            assert method(address, WRONG).status_code == (404 if may else 403), key
    for table in NEW:
        address = reverse(f"admin:exports_{table}_new")
        assert browser.get(address).status_code == (200 if may else 403), table
        assert browser.post(address, WRONG).status_code == (400 if may else 403), table
    assert written() == before


def test_what_is_missing_looks_like_what_is_foreign() -> None:
    mine = a_tenant()
    foreign = furnish(a_tenant())
    browser = one_of(ADMINISTRATORS, mine)
    missing: dict[str, list[Any]] = {
        "destination": [uuid.uuid4()],
        "destinationcontract": [uuid.uuid4()],
        "client": [2_000_000_000],
        "membership": [2_000_000_000],
    }

    for (table, name), address in foreign.addresses.items():
        more = ["0" * 15] if name == "revoke" else []
        absent = reverse(f"admin:exports_{table}_{name}", args=[*missing[table], *more])
        for method in (browser.get, browser.post):
            answers = [method(each, {"reason": "x"}) for each in (address, absent)]
            assert [answer.status_code for answer in answers] == [404, 404], name
            assert answers[0].content == answers[1].content, name


def every(world: World) -> list[str]:
    return [*world.addresses.values(), *(reverse(f"admin:exports_{table}_new") for table in NEW)]


def test_without_sign_in_every_address_leads_to_it(browser: RoleClient) -> None:
    world = furnish(a_tenant())
    before = written()

    for address in every(world):
        for method in (browser.get, browser.post):
            answer = method(address)
            assert (answer.status_code, answer["Location"]) == (302, f"/admin/login/?next={address}")
    assert written() == before


def test_no_form_is_taken_from_another_site() -> None:
    world = furnish(a_tenant())
    browser = signed_in(a_person(is_superuser=True))
    browser.handler.enforce_csrf_checks = True
    before = written()

    for address in every(world):
        assert browser.post(address, {"reason": "x"}).status_code == 403, address
    assert written() == before
