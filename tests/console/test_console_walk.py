"""Every URL of the console, by each group, for its own and another tenant: a foreign object looks missing."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from exports.admin.pages import pages
from exports.groups import GROUPS
from exports.models import Client, Contact, Destination, ExportAttemptEvent, Hold, Membership, OutboxMessage, Tenant
from tests.lives import a_contract, delivered
from tests.people import PASSWORD, a_caller, a_destination, a_person, a_tenant
from tests.routing import RoleClient

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

ADMINISTERED = {"client", "membership"}
"""Pages that only administrators have; every group has the others."""
PRIVATE = {"contact"}
"""Pages of no group at all: seeing contacts is a permission apart."""


def signed_in(user: Any) -> RoleClient:
    browser = RoleClient()
    browser.force_login(user)
    return browser


def name_of(model: type[Model]) -> str:
    return str(model._meta.model_name)


def furnish(tenant: Tenant) -> dict[str, Any]:
    """Return the key of one object of each page, of this tenant."""
    destination = a_destination(tenant)
    job = delivered(destination).job
    caller = a_caller(tenant)
    hold = Hold.objects.create(destination=destination, reason="A pause.", created_by="user:ann")
    return {
        "exportjob": job.id,
        "exportattemptevent": ExportAttemptEvent.objects.filter(job_id=job.id).latest("id").id,
        "outboxmessage": OutboxMessage.objects.get(job_id=job.id).message_id,
        "destination": destination.id,
        "destinationcontract": a_contract(destination).id,
        "hold": hold.id,
        "tenant": tenant.id,
        "client": Client.objects.get(user=caller.user).id,
        "membership": Membership.objects.get(user=caller.user).id,
        "contact": Contact.objects.create(tenant=tenant, external_id="C-1").id,
    }


def who_sees_contacts_too(tenant: Tenant) -> User:
    person = a_person(tenant, group="Export administrators")
    person.user_permissions.add(Permission.objects.get(codename="view_contact"))
    return person


def page(name: str, key: object) -> str:
    return reverse(f"admin:exports_{name}_change", args=[key])


def missing_like(key: object) -> object:
    return 2_000_000_000 if isinstance(key, int) else uuid.uuid4()


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_opens_its_pages_for_its_own_tenant_and_finds_nothing_of_another(group: str) -> None:
    mine, theirs = a_tenant(), a_tenant()
    own, foreign = furnish(mine), furnish(theirs)
    browser = signed_in(a_person(mine, group=group))
    wanted = dict.fromkeys(own, 200) | {name: 403 for name in ADMINISTERED if group != "Export administrators"}
    wanted |= dict.fromkeys(PRIVATE, 403)

    assert set(own) == {name_of(model) for model in pages()}
    for name, status in wanted.items():
        absent = 403 if status == 403 else 404
        assert browser.get(reverse(f"admin:exports_{name}_changelist")).status_code == status, name
        assert browser.get(page(name, own[name])).status_code == status, name
        answers = [browser.get(page(name, key)) for key in (foreign[name], missing_like(own[name]), "x")]
        assert [answer.status_code for answer in answers] == [absent] * 3, name
        assert len({answer.content for answer in answers}) == 1, name


def test_nothing_of_another_tenant_is_found_by_the_frameworks_side_doors() -> None:
    mine, foreign = a_tenant(), furnish(a_tenant())
    browser = signed_in(who_sees_contacts_too(mine))
    doors = [f"/admin/exports/{name}/{key}/history/" for name, key in foreign.items()]
    doors += [f"/admin/exports/{name}/{key}/delete/" for name, key in foreign.items()]
    field = "app_label=exports&model_name=exportattemptevent&field_name=job"
    doors.append(f"/admin/autocomplete/?{field}&term={foreign['exportjob']}")

    for door in doors:
        assert browser.get(door).status_code in {403, 404}, door


def test_each_list_shows_ones_own_and_not_anothers() -> None:
    mine, theirs = a_tenant(), a_tenant()
    own, foreign = furnish(mine), furnish(theirs)
    browser = signed_in(who_sees_contacts_too(mine))

    for name in own:
        search = {"q": str(own["exportjob"])} if name == "outboxmessage" else {}
        shown = browser.get(reverse(f"admin:exports_{name}_changelist"), search).content.decode()
        assert page(name, own[name]) in shown, name
        assert page(name, foreign[name]) not in shown, name


def test_no_list_can_be_searched_or_filtered_into_another_tenant() -> None:
    mine, theirs = a_tenant(), a_tenant()
    foreign = furnish(theirs)
    job, destination = foreign["exportjob"], Destination.objects.get(tenant=theirs)
    browser = signed_in(a_person(mine, group="Export administrators"))
    questions: list[tuple[str, dict[str, Any]]] = [
        ("exportjob", {"q": job}),
        ("exportjob", {"destination": destination.id}),
        ("exportjob", {"tenant": theirs.slug}),
        ("exportattemptevent", {"q": job}),
        ("outboxmessage", {"q": job}),
        ("outboxmessage", {"q": foreign["outboxmessage"]}),
        ("destination", {"tenant": theirs.slug}),
    ]

    for name, question in questions:
        answer = browser.get(reverse(f"admin:exports_{name}_changelist"), question)
        assert answer.status_code == 200
        assert page(name, foreign[name]) not in answer.content.decode(), question
        assert destination.name not in answer.content.decode(), question


def test_no_column_but_the_declared_filters_can_be_asked_for() -> None:
    tenant = a_tenant()
    browser = signed_in(a_person(tenant, group="Export viewers"))

    for question in ("claimed_by", "tenant__name__startswith", "destination__contracts__terms__host"):
        assert browser.get("/admin/exports/exportjob/", {question: "a"}).status_code == 400


def test_a_superuser_sees_every_tenant() -> None:
    one, other = furnish(a_tenant()), furnish(a_tenant())
    browser = signed_in(a_person(is_superuser=True))

    for keys in (one, other):
        for name, key in keys.items():
            assert browser.get(page(name, key)).status_code == 200, name


def test_nobody_adds_changes_or_deletes_a_record_by_a_form() -> None:
    keys = furnish(a_tenant())
    browser = signed_in(a_person(is_superuser=True))

    for model in pages():
        name, count = name_of(model), model._default_manager.count()
        listed = reverse(f"admin:exports_{name}_changelist")
        assert browser.post(f"{listed}add/", {"name": "new"}).status_code in {403, 404}, name
        assert browser.post(f"{listed}{keys[name]}/delete/", {"post": "yes"}).status_code in {403, 404}, name
        assert browser.post(page(name, keys[name]), {"name": "changed"}).status_code in {403, 405}, name
        assert model._default_manager.count() == count, name


def test_without_sign_in_every_page_leads_to_it(browser: RoleClient) -> None:
    for name, key in furnish(a_tenant()).items():
        for path in (reverse(f"admin:exports_{name}_changelist"), page(name, key)):
            answer = browser.get(path)
            assert (answer.status_code, answer["Location"]) == (302, f"/admin/login/?next={path}")


def test_a_client_system_cannot_sign_in_to_the_console() -> None:
    tenant = a_tenant()
    caller = a_caller(tenant)

    assert signed_in(caller.user).get("/admin/exports/exportjob/").status_code == 302


def test_a_member_of_no_group_sees_no_export() -> None:
    tenant = a_tenant()
    keys = furnish(tenant)
    browser = signed_in(a_person(tenant))

    assert browser.get("/admin/exports/exportjob/").status_code == 403
    assert browser.get(page("exportjob", keys["exportjob"])).status_code == 403


def test_somebody_signs_in_and_out_under_the_web_processs_role(browser: RoleClient) -> None:
    person = a_person(a_tenant(), group="Export viewers")

    entered = browser.post("/admin/login/", {"username": person.username, "password": PASSWORD, "next": "/admin/"})

    assert (entered.status_code, entered["Location"]) == (302, "/admin/")
    assert browser.get("/admin/").status_code == 200
    assert browser.post("/admin/logout/").status_code == 200
    assert browser.get("/admin/").status_code == 302
