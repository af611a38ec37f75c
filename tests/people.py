"""Tenants with their destinations, people in groups, and client systems with tokens: the web's cast."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group, Permission, User
from knox.models import AuthToken

from exports.actions.create_export import Created, create_export
from exports.models import Client, Destination, ExportJob, Membership, Tenant
from tests.routing import RoleClient

if TYPE_CHECKING:
    from uuid import UUID

EXPORTS = "/api/v1/exports/"
PASSWORD = "a long password for tests"


@dataclass(frozen=True)
class Caller:
    """A client system and its token."""

    name: str
    user: User
    token: str

    def get(self, path: str = "", **query: Any) -> Any:
        return RoleClient().get(f"{EXPORTS}{path}", query, headers=self.headers)

    def post(self, body: Any, path: str = "", *, alias: str = "api") -> Any:
        return RoleClient(alias).post(f"{EXPORTS}{path}", body, content_type="application/json", headers=self.headers)

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Token {self.token}"}


def a_tenant(slug: str = "") -> Tenant:
    slug = slug or f"tenant-{secrets.token_hex(3)}"
    return Tenant.objects.create(slug=slug, name=slug.capitalize())


def a_destination(tenant: Tenant, **values: Any) -> Destination:
    values.setdefault("name", f"partner-{secrets.token_hex(3)}")
    return Destination.objects.create(tenant=tenant, **values)


def a_caller(*tenants: Tenant, verbs: tuple[str, ...] = ("add", "view")) -> Caller:
    name = f"crm-{secrets.token_hex(3)}"
    user = User.objects.create_user(f"client.{name}")
    codenames = [f"{verb}_exportjob" for verb in verbs]
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    Client.objects.create(name=name, user=user)
    Membership.objects.bulk_create([Membership(user=user, tenant=tenant) for tenant in tenants])
    return Caller(name, user, a_token(user))


def a_token(user: User, **values: Any) -> str:
    _, token = AuthToken.objects.create(user, **values)  # type: ignore[no-untyped-call] # the library's own
    return str(token)


def a_person(*tenants: Tenant, group: str | None = None, **values: Any) -> User:
    username = values.pop("username", f"person-{secrets.token_hex(3)}")
    user = User.objects.create_user(username, password=PASSWORD, is_staff=True, **values)
    if group is not None:
        user.groups.add(Group.objects.get(name=group))
    Membership.objects.bulk_create([Membership(user=user, tenant=tenant) for tenant in tenants])
    return user


def an_export(destination: Destination, *, job_id: UUID | None = None, created_by: str = "client:crm") -> ExportJob:
    creation = create_export(destination.tenant, destination.id, created_by, job_id, using="api")
    assert isinstance(creation, Created)
    return creation.job
