"""Client systems, their tokens and who sees which tenant: what an administrator may give, and what not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.utils import timezone
from knox.models import AuthToken

from exports.models import Client, Contact, Membership
from tests.console.pages import fields_of, fill, one_of, signed_in, text_of
from tests.people import Caller, a_caller, a_person, a_tenant, a_token, an_export

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

CLIENTS = "/admin/exports/client/"
MEMBERS = "/admin/exports/membership/"
GROUP = "Export administrators"


@pytest.fixture
def ada(tenant: Tenant) -> RoleClient:
    return one_of(GROUP, tenant, username="ada")


def the_client(caller: Caller) -> Client:
    return Client.objects.get(user=caller.user)


def screen(caller: Caller, name: str) -> str:
    return f"{CLIENTS}{the_client(caller).id}/{name}/"


def token_on(page: Any) -> str:
    return str(page.content.decode().split('<pre class="raw id" tabindex="0">')[1].split("<")[0])


def send(browser: RoleClient, path: str, **filled: Any) -> Any:
    return browser.post(path, {**fields_of(browser.get(path)), **filled})


def test_a_client_is_created_for_a_tenant_and_its_token_is_shown_once(
    ada: RoleClient, tenant: Tenant, destination: Destination
) -> None:
    page = send(ada, f"{CLIENTS}new/", name="crm", tenants=[str(tenant.id)], verbs=["create", "view"], days="30")

    token = token_on(page)
    assert (page.status_code, "no-store" in page["Cache-Control"]) == (200, True)
    made = Client.objects.get(name="crm")
    caller = Caller("crm", made.user, token)
    assert caller.post({"destination_id": str(destination.id)}).status_code == 201
    assert not made.user.has_usable_password()
    kept = AuthToken.objects.get()
    assert abs(kept.expiry - timezone.now() - timedelta(days=30)) < timedelta(minutes=5)
    shown = ada.get(f"{CLIENTS}{made.id}/change/").content.decode()
    assert token not in shown
    assert kept.token_key in shown
    assert not any(token in entry.change_message for entry in LogEntry.objects.all())
    assert "a token for 30 days" in LogEntry.objects.get().change_message


def test_a_name_is_never_given_twice(ada: RoleClient, tenant: Tenant) -> None:
    taken = a_caller(a_tenant()).name

    page = send(ada, f"{CLIENTS}new/", name=taken, tenants=[str(tenant.id)], verbs=["view"], days="30")

    assert page.status_code == 400
    assert "names are never given again" in text_of(page)
    assert Client.objects.count() == 1


def test_no_client_is_given_what_is_out_of_reach(ada: RoleClient) -> None:
    page = send(ada, f"{CLIENTS}new/", name="crm", tenants=[str(a_tenant().id)], verbs=["view"], days="30")

    assert page.status_code == 400
    assert not Client.objects.exists()


def test_a_token_is_issued_beside_the_others_and_revoked_alone(ada: RoleClient, tenant: Tenant) -> None:
    first = a_caller(tenant)
    page = fill(ada, screen(first, "tokens/new"), days="7")
    second = Caller(first.name, first.user, token_on(page))
    assert [each.get().status_code for each in (first, second)] == [200, 200]
    key = second.token[:15]

    answer = fill(ada, screen(first, f"tokens/{key}/revoke"), reason="it was in a mail")

    assert answer["Location"] == f"{CLIENTS}{the_client(first).id}/change/"
    assert [each.get().status_code for each in (first, second)] == [200, 401]
    history = text_of(ada.get(answer["Location"]))
    assert f"by ada: Revoked token {key}…. Why: it was in a mail" in history
    again = ada.post(screen(first, f"tokens/{key}/revoke"), {"reason": "again"})
    assert (again.status_code, "There is no such token any more." in text_of(again)) == (409, True)


@pytest.mark.parametrize("days", ["0", "3651", "x", ""])
def test_a_token_is_good_for_a_time_somebody_will_remember(ada: RoleClient, tenant: Tenant, days: str) -> None:
    caller = a_caller(tenant)

    assert fill(ada, screen(caller, "tokens/new"), days=days).status_code == 400
    assert AuthToken.objects.count() == 1


def test_what_a_client_may_do_is_changed_from_its_next_request_on(
    ada: RoleClient, tenant: Tenant, destination: Destination
) -> None:
    caller = a_caller(tenant, verbs=("add", "view"))
    job = an_export(destination)
    assert (
        send(ada, screen(caller, "access"), verbs=["create"], tenants=[str(tenant.id)], reason="less").status_code
        == 302
    )
    assert caller.get(f"{job.id}/").status_code == 403

    send(ada, screen(caller, "access"), verbs=["view"], tenants=[str(tenant.id)], is_active="", reason="off")
    assert caller.get(f"{job.id}/").status_code == 401
    assert not User.objects.get(id=caller.user.id).is_active


def test_a_client_is_bound_to_an_approver_of_its_tenants_alone(ada: RoleClient, tenant: Tenant) -> None:
    caller = a_caller(tenant)
    ruth = a_person(tenant, group="Export replacement approvers", username="ruth")
    a_person(a_tenant(), group="Export replacement approvers", username="rolf")
    a_person(tenant, group="Export operators", username="olga")
    wanted = {"verbs": ["replace"], "tenants": [str(tenant.id)], "reason": "they asked"}

    for nobody in ("rolf", "olga", "nobody"):
        page = send(ada, screen(caller, "access"), person=nobody, **wanted)
        assert page.status_code == 400
        assert "No member of Export replacement approvers of all these tenants has this name." in text_of(page)
    assert send(ada, screen(caller, "access"), person="ruth", **wanted).status_code == 302

    assert the_client(caller).person == ruth
    assert "person ruth" in LogEntry.objects.get().change_message


def test_whoever_administers_one_of_its_tenants_takes_away_but_gives_nothing(ada: RoleClient, tenant: Tenant) -> None:
    other = a_tenant()
    caller = a_caller(tenant, other)
    key = AuthToken.objects.get().token_key

    assert ada.get(f"{CLIENTS}{the_client(caller).id}/change/").status_code == 200
    for name in ("access", "tokens/new"):
        assert ada.get(screen(caller, name)).status_code == 403
        assert ada.post(screen(caller, name), {"days": "7"}).status_code == 403
    assert AuthToken.objects.count() == 1
    assert fill(ada, screen(caller, f"tokens/{key}/revoke"), reason="leaked").status_code == 302
    assert caller.get().status_code == 401


def test_a_token_of_another_client_is_not_found(ada: RoleClient, tenant: Tenant) -> None:
    mine, theirs = a_caller(tenant), a_caller(a_tenant())
    key = AuthToken.objects.get(user=theirs.user).token_key

    assert ada.get(screen(mine, f"tokens/{key}/revoke")).status_code == 404
    assert ada.post(screen(mine, f"tokens/{key}/revoke"), {"reason": "x"}).status_code == 409
    assert theirs.get().status_code == 200


def test_tokens_are_listed_with_when_they_end(ada: RoleClient, tenant: Tenant) -> None:
    caller = a_caller(tenant)
    a_token(caller.user, expiry=timedelta(days=2))
    a_token(caller.user, expiry=timedelta(seconds=-60))

    shown = text_of(ada.get(f"{CLIENTS}{the_client(caller).id}/change/"))

    assert "never ends" in shown
    assert "ends in 1 d 23 h" in shown
    assert "ended 1 min" in shown


def test_when_a_client_called_last_is_noted_once_a_minute(ada: RoleClient, tenant: Tenant) -> None:
    caller = a_caller(tenant)
    page = f"{CLIENTS}{the_client(caller).id}/change/"
    assert "Last call: never" in text_of(ada.get(page))

    caller.get()
    noted = User.objects.get(id=caller.user.id).last_login
    caller.get()
    assert User.objects.get(id=caller.user.id).last_login == noted
    assert "Last call: just now" in text_of(ada.get(page))

    User.objects.filter(id=caller.user.id).update(last_login=timezone.now() - timedelta(minutes=5))
    caller.get()
    assert "Last call: just now" in text_of(ada.get(page))


def test_somebody_is_let_in_and_out_again(ada: RoleClient, tenant: Tenant, destination: Destination) -> None:
    job = an_export(destination)
    vera = signed_in(a_person(a_tenant(), group="Export viewers", username="vera"))
    page = f"/admin/exports/exportjob/{job.id}/change/"
    assert vera.get(page).status_code == 404

    assert fill(ada, f"{MEMBERS}new/", username="vera", tenant=str(tenant.id), reason="new here").status_code == 302
    assert vera.get(page).status_code == 200

    member = Membership.objects.get(user__username="vera", tenant=tenant)
    assert fill(ada, f"{MEMBERS}{member.id}/remove/", reason="has left").status_code == 302
    assert vera.get(page).status_code == 404
    told = [entry.change_message for entry in LogEntry.objects.order_by("id")]
    assert told == ["Let vera in. Why: new here", "Ended what vera sees. Why: has left"]


def test_nobody_is_let_into_another_tenant(ada: RoleClient) -> None:
    foreign = a_tenant()
    vera = a_person(foreign, username="vera")

    page = fill(ada, f"{MEMBERS}new/", username="vera", tenant=str(foreign.id), reason="x")

    assert page.status_code == 400
    member = Membership.objects.get(user=vera)
    assert ada.get(f"{MEMBERS}{member.id}/remove/").status_code == 404
    assert ada.post(f"{MEMBERS}{member.id}/remove/", {"reason": "x"}).status_code == 404
    assert Membership.objects.filter(id=member.id).exists()


def test_a_clients_tenants_are_its_own_pages_business(ada: RoleClient, tenant: Tenant) -> None:
    caller = a_caller(tenant)
    member = Membership.objects.get(user=caller.user)

    assert ada.get(f"{MEMBERS}{member.id}/remove/").status_code == 404
    page = fill(ada, f"{MEMBERS}new/", username=caller.user.username, tenant=str(tenant.id), reason="x")
    assert (page.status_code, "Nobody who may sign in" in text_of(page)) == (400, True)


def a_contact(tenant: Tenant) -> Contact:
    return Contact.objects.create(tenant=tenant, external_id="C-1", email="zoe@example.org", given_name="Zoë")


def test_contacts_are_seen_by_nobody_but_who_has_that_permission(
    tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    contact = a_contact(tenant)
    foreign = a_contact(a_tenant())
    listed, page = "/admin/exports/contact/", f"/admin/exports/contact/{contact.id}/change/"
    for group in ("Export viewers", "Export operators", "Reconciliation staff", GROUP, "Export replacement approvers"):
        browser = one_of(group, tenant)
        assert [browser.get(each).status_code for each in (listed, page)] == [403, 403], group
        assert "contact/" not in browser.get("/admin/exports/exportjob/").content.decode()
    allowed = a_person(tenant, username="dora")
    allowed.user_permissions.add(_view_contact())
    dora = signed_in(allowed)
    caplog.clear()

    with caplog.at_level("INFO"):
        assert "zoe@example.org" in text_of(dora.get(listed))
        assert "Zoë" in text_of(dora.get(page))
        assert dora.get(f"/admin/exports/contact/{foreign.id}/change/").status_code == 404
    told = [record for record in caplog.records if record.name == "exports.admin.contacts"]
    assert [record.message for record in told] == ["contacts_listed", "contact_seen", "contact_seen"]
    assert all("zoe" not in str(record.__dict__) for record in told)


def _view_contact() -> Any:
    from django.contrib.auth.models import Permission  # noqa: PLC0415 - after the tables are there

    return Permission.objects.get(codename="view_contact")
