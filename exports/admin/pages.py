"""Which table has which page in the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports import models
from exports.admin import directory, records
from exports.admin.agreed import pages as agreed
from exports.admin.clients import pages as clients
from exports.admin.contacts import ContactAdmin
from exports.admin.holds import HoldAdmin
from exports.admin.jobs import ExportJobAdmin

if TYPE_CHECKING:
    from django.db.models import Model

    from exports.admin.base import ConsoleAdmin


def pages() -> dict[type[Model], type[ConsoleAdmin]]:
    """Return the pages by table. Those with composite keys have none: Django's admin cannot show them."""
    return {
        models.ExportJob: ExportJobAdmin,
        models.ExportAttemptEvent: records.ExportAttemptEventAdmin,
        models.OutboxMessage: records.OutboxMessageAdmin,
        models.Destination: agreed.DestinationAdmin,
        models.DestinationContract: agreed.DestinationContractAdmin,
        models.Hold: HoldAdmin,
        models.Tenant: directory.TenantAdmin,
        models.Client: clients.ClientAdmin,
        models.Membership: clients.MembershipAdmin,
        models.Contact: ContactAdmin,
    }
