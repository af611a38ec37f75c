"""Every address of the verbs, by each group, for its own and another tenant, opened and sent."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse

from exports.groups import GROUPS
from exports.holds.opening import hold_guarded
from exports.models import CancellationRequest, ExportAttemptEvent, ExportJob, Hold, OverwriteAgreement
from tests.console.pages import one_of, signed_in
from tests.lives import cancel
from tests.people import a_person, a_tenant
from tests.recovery import lives
from tests.settling import settled

if TYPE_CHECKING:
    from uuid import UUID

    from exports.models import Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

OPERATORS, APPROVERS = "Export operators", "Export replacement approvers"
STAFF, ADMINISTRATORS = "Reconciliation staff", "Export administrators"

OF_AN_EXPORT = {
    "cancel": OPERATORS,
    "cancel_answer": OPERATORS,
    "terms": OPERATORS,
    "replace": APPROVERS,
    "replace_agreement": APPROVERS,
    "reconcile": STAFF,
    "correct": STAFF,
    "evidence": STAFF,
}
"""The screens of one export, and the one group that may use each."""
OF_MANY = {"cancel_many": OPERATORS, "cancel_many_run": OPERATORS, "cancel_many_table": OPERATORS}
OF_HOLDS = {"pause": ADMINISTRATORS, "freeze": ADMINISTRATORS, "end": ADMINISTRATORS}

ONLY_READ = {"cancel_answer"}
WRONG = {"reason": "x", "confirmed": "yes"}
"""What every form refuses for want of its hidden parts: sent by whoever may, it does nothing."""


@dataclass(frozen=True)
class World:
    """One of each thing that an address can name, in one tenant."""

    job: ExportJob
    click: UUID
    pause: Hold
    guard: Hold

    def address(self, name: str) -> str:
        more = [self.click] if name == "cancel_answer" else []
        address = reverse(f"admin:exports_exportjob_{name}", args=[self.job.id, *more])
        return f"{address}?kind=document" if name == "evidence" else address


def furnish(tenant: Tenant) -> World:
    place = lives.a_place(tenant=tenant)
    job = settled.unknown(place)
    waiting = lives.queued(place)
    hold_guarded(waiting, "The file has no contacts.", "worker-1", "worker")
    pause = Hold.objects.create(destination=place.destination, reason="A pause.", created_by="user:ann")
    return World(job, cancel(job).id, pause, Hold.objects.get(job_id=waiting.id))


def missing_like(address: str, world: World) -> list[str]:
    """Return the address for an export that is not there, and for what is no id."""
    return [address.replace(str(world.job.id), other) for other in (str(uuid.uuid4()), "x")]


def written() -> tuple[int, ...]:
    """Count what the verbs write."""
    tables: tuple[Any, ...] = (CancellationRequest, ExportAttemptEvent, ExportJob, OverwriteAgreement)
    return (*(table.objects.count() for table in tables), Hold.objects.filter(ended_at=None).count())


def names_of(model: str) -> set[str]:
    """Return the names of every address that the console has for a table, beyond the framework's own."""
    prefix, framework = f"exports_{model}_", {"changelist", "change", "add", "history", "delete"}
    patterns: Any = [each for group in admin.site.urls[0] for each in getattr(group, "url_patterns", [])]
    names = {str(each.name).removeprefix(prefix) for each in patterns if str(each.name).startswith(prefix)}
    return names - framework


def test_no_address_is_left_out_of_the_walk() -> None:
    assert names_of("exportjob") == OF_AN_EXPORT.keys() | OF_MANY.keys()
    assert names_of("hold") == OF_HOLDS.keys()


@pytest.mark.parametrize("group", GROUPS)
def test_each_screen_of_an_export_opens_to_its_group_for_its_own_tenant_alone(group: str) -> None:
    mine = a_tenant()
    own, foreign = furnish(mine), furnish(a_tenant())
    browser = one_of(group, mine)
    before = written()

    for name, allowed in OF_AN_EXPORT.items():
        opened = browser.get(own.address(name)).status_code
        assert opened == (200 if group == allowed else 403), name
        sent = browser.post(own.address(name), WRONG).status_code
        assert sent == ((405 if name in ONLY_READ else 400) if group == allowed else 403), name
        others = [foreign.address(name), *missing_like(own.address(name), own)]
        for method in (browser.get, browser.post):
            answers = [method(address) for address in others]
            assert [answer.status_code for answer in answers] == [404] * len(others), name
            assert len({answer.content for answer in answers}) == 1, name
    assert written() == before


@pytest.mark.parametrize("group", GROUPS)
def test_a_screen_of_ones_own_export_shows_nothing_of_another(group: str) -> None:
    mine = a_tenant()
    own, foreign = furnish(mine), furnish(a_tenant())
    browser = one_of(group, mine)

    crossed = reverse("admin:exports_exportjob_cancel_answer", args=[own.job.id, foreign.click])

    assert browser.get(crossed).status_code == (404 if group == OPERATORS else 403)


@pytest.mark.parametrize("group", GROUPS)
def test_cancelling_many_is_the_operators_and_each_plan_its_makers(group: str) -> None:
    mine = a_tenant()
    furnish(mine)
    maker, browser = one_of(OPERATORS, mine), one_of(group, mine)
    many = reverse("admin:exports_exportjob_cancel_many")
    plan = str(maker.post(many, {"matching": "yes"})["Location"])
    before = written()
    may = group == OPERATORS

    assert browser.get(many).status_code == 405
    assert browser.post(many, {"matching": "yes"}).status_code == (302 if may else 403)
    for address in (plan, f"{plan}table/"):
        assert browser.get(address).status_code == (404 if may else 403)
        assert maker.get(address).status_code == 200
    assert browser.post(plan, {"reason": "x"}).status_code == (404 if may else 403)
    assert written() == before


@pytest.mark.parametrize("group", GROUPS)
def test_holds_are_opened_and_ended_by_their_group_for_their_own_tenant_alone(group: str) -> None:
    mine = a_tenant()
    own, foreign = furnish(mine), furnish(a_tenant())
    browser = one_of(group, mine)
    pause = reverse("admin:exports_hold_pause")
    may = group == ADMINISTRATORS
    before = written()

    for world, status in ((own, 200), (foreign, 404)):
        for scope in (f"destination={world.job.destination_id}", f"tenant={world.job.tenant_id}"):
            assert browser.get(f"{pause}?{scope}").status_code == (status if may else 403)
            sent = browser.post(f"{pause}?{scope}", WRONG).status_code
            assert sent == ((400 if world is own else 404) if may else 403)
    freeze = reverse("admin:exports_hold_freeze")
    assert browser.get(freeze).status_code == (200 if may else 403)
    assert browser.post(freeze, WRONG).status_code == (400 if may else 403)
    for hold, ends in ((own.pause, ADMINISTRATORS), (own.guard, OPERATORS)):
        end = reverse("admin:exports_hold_end", args=[hold.id])
        assert browser.get(end).status_code == (200 if group == ends else 403)
        assert browser.post(end, {}).status_code == (400 if group == ends else 403)
    for hold_id in (foreign.pause.id, foreign.guard.id, uuid.uuid4()):
        end = reverse("admin:exports_hold_end", args=[hold_id])
        assert browser.get(end).status_code == 404
        assert browser.post(end, {"reason": "x"}).status_code == 404
    assert written() == before


@pytest.mark.parametrize("group", GROUPS)
def test_the_worklist_shows_each_group_its_own_tenants(group: str) -> None:
    mine = a_tenant()
    own, foreign = furnish(mine), furnish(a_tenant())

    page = one_of(group, mine).get(reverse("admin:worklist"))

    assert page.status_code == 200
    assert str(own.job.id) in page.content.decode()
    assert str(foreign.job.id) not in page.content.decode()


def everything_of(world: World) -> list[str]:
    screens = [world.address(name) for name in OF_AN_EXPORT]
    plain = ["admin:worklist", "admin:exports_exportjob_cancel_many", "admin:exports_hold_freeze"]
    named = [
        reverse("admin:exports_exportjob_cancel_many_run", args=[uuid.uuid4()]),
        reverse("admin:exports_exportjob_cancel_many_table", args=[uuid.uuid4()]),
        reverse("admin:exports_hold_end", args=[world.pause.id]),
        f"{reverse('admin:exports_hold_pause')}?tenant={world.job.tenant_id}",
    ]
    return [*screens, *map(reverse, plain), *named]


def test_without_sign_in_every_address_leads_to_it(browser: RoleClient) -> None:
    world = furnish(a_tenant())
    before = written()

    for address in everything_of(world):
        for method in (browser.get, browser.post):
            answer = method(address)
            assert answer.status_code == 302, address
            assert answer["Location"].startswith("/admin/login/?next="), address
    assert written() == before


def test_a_member_of_no_group_opens_none_of_them() -> None:
    tenant = a_tenant()
    world = furnish(tenant)
    browser = signed_in(a_person(tenant))

    for address in everything_of(world):
        for method in (browser.get, browser.post):
            assert method(address).status_code in {403, 405}, address


def test_who_leaves_a_group_keeps_no_screen_open() -> None:
    tenant = a_tenant()
    world = furnish(tenant)
    person = a_person(tenant, group=STAFF)
    browser = signed_in(person)
    assert browser.get(world.address("reconcile")).status_code == 200

    person.groups.remove(Group.objects.get(name=STAFF))

    assert browser.get(world.address("reconcile")).status_code == 403


def test_no_form_is_taken_from_another_site() -> None:
    tenant = a_tenant()
    world = furnish(tenant)
    browser = signed_in(a_person(is_superuser=True))
    browser.handler.enforce_csrf_checks = True
    before = written()

    for name in OF_AN_EXPORT.keys() - ONLY_READ:
        assert browser.post(world.address(name), WRONG).status_code == 403, name
    assert browser.post(reverse("admin:exports_exportjob_cancel_many"), {"matching": "yes"}).status_code == 403
    assert browser.post(reverse("admin:exports_hold_freeze"), WRONG).status_code == 403
    assert written() == before
