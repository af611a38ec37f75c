"""Register a client system: a user of its own, its tenants, its verbs and its first token (least privilege)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.contrib.auth.models import Permission, User
from django.db import router, transaction
from knox.models import AuthToken

from exports.models import Client, Membership

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import timedelta

    from exports.models import Tenant


class ClientVerb(StrEnum):
    """What a client system can be allowed to do over REST."""

    CREATE = "create"
    VIEW = "view"
    CANCEL = "cancel"
    TERMS = "terms"
    REPLACE = "replace"


CODENAMES = {
    ClientVerb.CREATE: "add_exportjob",
    ClientVerb.VIEW: "view_exportjob",
    ClientVerb.CANCEL: "cancel_exportjob",
    ClientVerb.TERMS: "change_terms_exportjob",
    ClientVerb.REPLACE: "replace_exportjob",
}
"""The permission behind each verb."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The client exists; `token` is in no table and can be shown only now."""

    client: Client
    token: str


@dataclass(frozen=True, slots=True)
class NameTaken:
    """A client had this name once; the history names it, so it is never given again."""


def create_client(
    name: str, tenants: Collection[Tenant], verbs: Collection[ClientVerb], token_life: timedelta
) -> Registered | NameTaken:
    """Register a client under a name that nobody had, all of it or nothing."""
    with transaction.atomic(using=router.db_for_write(User), durable=True):
        # Taken first: of two registrations under one name, the second waits here and then sees the first.
        user, is_new = User.objects.get_or_create(username=f"client.{name}")
        if not is_new or Client.objects.filter(name=name).exists():
            return NameTaken()
        user.set_unusable_password()
        user.save(update_fields=["password"])
        client = Client.objects.create(name=name, user=user)
        _allow(user, tenants, verbs)
        _, token = AuthToken.objects.create(user, expiry=token_life)  # type: ignore[no-untyped-call] # the library's
        return Registered(client, str(token))


def _allow(user: User, tenants: Collection[Tenant], verbs: Collection[ClientVerb]) -> None:
    Membership.objects.bulk_create([Membership(user=user, tenant=tenant) for tenant in tenants])
    codenames = [CODENAMES[verb] for verb in verbs]
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="exports", codename__in=codenames))
