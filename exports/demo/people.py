"""People with a password each, and client systems with a token each."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group, Permission, User
from knox.models import AuthToken

from exports.models import Client, Membership

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exports.models import Tenant

_CLIENT_MAY = ("add_exportjob", "view_exportjob", "cancel_exportjob", "change_terms_exportjob", "replace_exportjob")
_TOKEN_LIFE = timedelta(days=1)  # each start of the demo makes a new one


def seed_person(told: Mapping[str, Any], tenants: Iterable[Tenant]) -> None:
    """Create a person of a group, member of all tenants, or a superuser if no group is told."""
    group = told["group"]
    user, is_new = User.objects.get_or_create(
        username=told["username"], defaults={"is_staff": True, "is_superuser": group is None}
    )
    if is_new:
        user.set_password(told["password"])
        user.save(update_fields=["password"])
    if group is not None:
        user.groups.add(Group.objects.get(name=group))
    for tenant in tenants:
        Membership.objects.get_or_create(user=user, tenant=tenant)


def seed_client(name: str, tenant: Tenant) -> str:
    """Create a client system of one tenant; return a fresh token, the earlier ones revoked."""
    user, is_new = User.objects.get_or_create(username=name)
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    Client.objects.get_or_create(name=name, defaults={"user": user})
    Membership.objects.get_or_create(user=user, tenant=tenant)
    user.user_permissions.set(Permission.objects.filter(codename__in=_CLIENT_MAY))
    AuthToken.objects.filter(user=user).delete()
    _, token = AuthToken.objects.create(user=user, expiry=_TOKEN_LIFE)  # type: ignore[no-untyped-call] # the library's own
    return str(token)
