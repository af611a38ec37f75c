"""The five groups of people, made after every migrate; what each may do, stated once.

A company that needs another cut makes groups of its own: these are set back to what stands here, so that a
permission withdrawn in a later version is withdrawn everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission

if TYPE_CHECKING:
    from django.apps import AppConfig

APP = "exports"

SEE = frozenset(
    {
        "view_exportjob",
        "view_exportattemptevent",
        "view_cancellationrequest",
        "view_outboxmessage",
        "view_delivery",
        "view_tenant",
        "view_destination",
        "view_destinationcontract",
        "view_hold",
    }
)
"""What everybody in the console sees of their tenants. Contacts are not in it: operating needs none of them."""

OPERATE = frozenset({"cancel_exportjob", "change_terms_exportjob", "release_guard"})
REPLACE = frozenset({"replace_exportjob"})
SETTLE = frozenset({"reconcile_exportjob", "correct_exportjob"})
ADMINISTER = frozenset(
    {
        "add_destination",
        "change_destination",
        "add_destinationcontract",
        "confirm_destinationcontract",
        "add_hold",
        "change_hold",
        "view_client",
        "add_client",
        "change_client",
        "view_membership",
        "add_membership",
        "delete_membership",
    }
)

GROUPS: dict[str, frozenset[str]] = {
    "Export viewers": SEE,
    "Export operators": SEE | OPERATE,
    "Export replacement approvers": SEE | REPLACE,
    "Reconciliation staff": SEE | SETTLE,
    "Export administrators": SEE | ADMINISTER,
}
"""Group name to the permissions of this app; duties are kept apart, and a person may be in several."""


def make_groups(app_config: AppConfig, using: str, **_: Any) -> None:
    """Make the groups and give each exactly its permissions (receiver of post_migrate; idempotent)."""
    if app_config.label != APP:
        return
    # Django makes an app's permissions in a receiver of the same signal, which may come after this one.
    create_permissions(app_config, verbosity=0, using=using)
    permissions = Permission.objects.using(using).filter(content_type__app_label=APP)
    by_codename = {permission.codename: permission for permission in permissions}
    for name, codenames in GROUPS.items():
        group, _created = Group.objects.using(using).get_or_create(name=name)
        group.permissions.set([by_codename[codename] for codename in sorted(codenames)])
