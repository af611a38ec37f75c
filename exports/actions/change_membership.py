"""Let a person see a tenant, or no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.models import Membership

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from exports.models import Tenant


def add_member(user: User, tenant: Tenant) -> bool:
    """Make somebody a member; False: they were one already. Of two at once, one adds."""
    _, is_new = Membership.objects.get_or_create(user=user, tenant=tenant)
    return is_new


def remove_member(membership: Membership) -> bool:
    """End a membership from the person's next request on; False: it had ended."""
    deleted, _ = Membership.objects.filter(id=membership.id).delete()
    return bool(deleted)
