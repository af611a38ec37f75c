"""Change what a client system may do, for which tenants and in whose name, or let it do nothing at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import Permission, User
from django.db import router, transaction

from exports.actions.create_client import CODENAMES
from exports.models import Client, Membership

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from exports.actions.create_client import ClientVerb


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """All that a client may do; `person_id` is the approver in whose name it may send again."""

    tenant_ids: frozenset[UUID]
    verbs: Collection[ClientVerb]
    person_id: int | None
    is_active: bool


def change_client(client: Client, access: Access) -> None:
    """Put the client's access in place, all of it or nothing; the caller has checked every tenant of it.

    Of two at once the second waits for the first, and what it sets stands.
    """
    with transaction.atomic(using=router.db_for_write(User), durable=True):
        user = User.objects.select_for_update(no_key=True).get(id=client.user_id)
        user.is_active = access.is_active
        user.save(update_fields=["is_active"])
        Client.objects.filter(id=client.id).update(person_id=access.person_id)
        members = Membership.objects.filter(user=user)
        members.exclude(tenant_id__in=access.tenant_ids).delete()
        kept = set(members.values_list("tenant_id", flat=True))
        Membership.objects.bulk_create(
            [Membership(user=user, tenant_id=tenant_id) for tenant_id in sorted(access.tenant_ids - kept)]
        )
        codenames = [CODENAMES[verb] for verb in access.verbs]
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="exports", codename__in=codenames))
