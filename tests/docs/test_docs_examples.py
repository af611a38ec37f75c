"""The examples of the guides, run as they stand there."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from exports.conf import limits
from exports.contracts import Contract
from exports.models import Destination
from exports.secrets import Secret
from exports.states import Status
from exports.worker.policy import Allow, policy
from exports.worker.policy import Hold as Held
from exports.worker.policy import Reject as Refused
from tests.docs.pages import PROJECT, block_with, blocks
from tests.faults.fixtures import spool, waking, world
from tests.faults.world import now
from tests.people import an_export
from tests.routing import role
from tests.worker.building import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.models import Tenant
    from tests.faults.waking import Waking
    from tests.faults.world import World

__all__ = ["spool", "waking", "world"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "worker", "api"])

OLD_AGENCY = "00000000-0000-0000-0000-0000000000a9"
CRM = """
    CREATE SCHEMA crm;
    CREATE TABLE crm.people (id text, company_id uuid, email_address text, first_name text);
    CREATE TABLE crm.consents (person_id text)
"""


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module of a company's own classes."""
    module = ModuleType("acme")
    monkeypatch.setitem(sys.modules, "acme", module)
    return module


@pytest.fixture
def crm(world: World) -> Iterator[Tenant]:
    """Make a company's own tables, with the grants that the guide gives, and two people in them."""
    (grants,) = blocks(PROJECT / "docs/integrating.md", "sql")
    with connection.cursor() as cursor:
        cursor.execute(CRM)
        cursor.execute(grants + "GRANT SELECT ON crm.consents TO exports_worker")
        people = [("p1", "a@example.org", "Ann"), ("p2", "b@example.org", "Bo")]
        for number, email, name in people:
            cursor.execute("INSERT INTO crm.people VALUES (%s, %s, %s, %s)", [number, world.tenant.id, email, name])
        cursor.execute("INSERT INTO crm.consents VALUES ('p2')")
    yield world.tenant
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA crm CASCADE")


def _use(module: ModuleType, words: str, settings: Any, **which: Any) -> None:
    exec(block_with("integrating.md", words), module.__dict__)  # noqa: S102 - the guide's own example
    settings.EXPORTS = replace(limits(), **which)


@pytest.mark.usefixtures("spool")
def test_a_source_of_the_guide_builds_a_file_from_the_companys_own_table(
    acme: ModuleType, crm: Tenant, settings: Any
) -> None:
    _use(acme, "class People", settings, source="acme.People")

    assert text_of(crm).splitlines() == ["external_id,email,given_name", "p1,a@example.org,Ann", "p2,b@example.org,Bo"]


@pytest.mark.usefixtures("spool")
def test_a_select_of_ones_own_leaves_out_who_did_not_consent(acme: ModuleType, crm: Tenant, settings: Any) -> None:
    _use(acme, "class Consenting", settings, source="acme.Consenting")

    assert text_of(crm).splitlines() == ["external_id,email", "p2,b@example.org"]


def test_a_policy_of_the_guide_allows_holds_and_refuses(acme: ModuleType, world: World, settings: Any) -> None:
    _use(acme, "class OfficeHours", settings, policy="acme.OfficeHours")
    refused = an_export(Destination.objects.create(id=OLD_AGENCY, tenant=world.tenant, name="old"))
    hours: Any = acme.OfficeHours
    told = policy()

    hours.now = staticmethod(lambda: datetime(2030, 1, 4, 12, tzinfo=UTC))
    assert isinstance(told.evaluate(world.queued(), "worker"), Allow)
    assert told.evaluate(refused, "worker") == Refused(("We no longer work with this agency.",))
    hours.now = staticmethod(lambda: datetime(2030, 1, 6, 12, tzinfo=UTC))
    assert told.evaluate(world.queued(), "worker") == Held(
        "Nothing goes out on a Sunday.", until=datetime(2030, 1, 7, tzinfo=UTC)
    )


@pytest.mark.usefixtures("spool")
def test_a_destination_set_up_as_the_guide_does_receives_an_export(
    acme: ModuleType, world: World, waking: Waking, partner: Any
) -> None:
    exec(block_with("integrating.md", "def set_up"), acme.__dict__)  # noqa: S102 - the guide's own example
    agreed = Contract.from_json(world.contract.terms)
    with role("api"):
        made = acme.set_up(world.tenant, "agency", agreed, Secret(password=partner.password), "user:ann")
    job = an_export(Destination.objects.get(id=made.id))

    waking.run(job)

    assert now(job).status == Status.COMPLETED


def test_the_contract_of_the_guide_is_valid(acme: ModuleType) -> None:
    exec(block_with("integrating.md", "contract = Contract("), acme.__dict__)  # noqa: S102 - the guide's own example

    assert acme.contract.final_name("k1") == "contacts-k1.csv"
