"""Tenants, destinations with their contracts, holds, clients and memberships: what is agreed and who has access."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.html import format_html

from exports.admin.base import ConsoleAdmin, reach
from exports.admin.filters import TenantFilter
from exports.admin.formats import ago
from exports.admin.holds import ways_of
from exports.models import Membership
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from exports.models import DestinationContract


class TenantAdmin(ConsoleAdmin):
    """Whose contacts are exported."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("slug",), descending=False)
    tenant_path = "id"
    list_display = ("slug", "name", "is_active")

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return pausing and resuming it."""
        return ways_of(request, tenant_id=obj.id, destination_id=None)


class DestinationAdmin(ConsoleAdmin):
    """Where exports go."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("name", "id"), descending=False)
    list_display = ("name", "tenant", "is_enabled", "contract")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant", "active_contract")
    fields = ("name", "tenant", "is_enabled", "contract")

    @admin.display(description="active contract")
    def contract(self, destination: Any) -> str:
        """Show the version in force; without one, exports wait."""
        contract = destination.active_contract
        return "none; exports wait" if contract is None else f"version {contract.version}"

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return pausing and resuming it."""
        return ways_of(request, tenant_id=obj.tenant_id, destination_id=obj.id)


class DestinationContractAdmin(ConsoleAdmin):
    """What was agreed with a partner, version by version."""

    keyset = Keyset(("created_at", "id"))
    tenant_path = "destination__tenant_id"
    list_display = ("destination", "version", "reason", "created_by", "created")
    list_select_related = ("destination",)
    fields = ("destination", "version", "agreed", "reason", "created_by", "created")

    @admin.display(description="terms")
    def agreed(self, contract: DestinationContract) -> SafeString:
        """Show the terms as they are stored; credentials are named in them by id and never shown."""
        return format_html('<pre class="raw">{}</pre>', json.dumps(contract.terms, indent=2))

    @admin.display(description="recorded")
    def created(self, contract: DestinationContract) -> SafeString:
        """Show how long ago, with the exact time."""
        return ago(contract.created_at)


class ClientAdmin(ConsoleAdmin):
    """Client systems that call the API for tenants within reach."""

    keyset = Keyset(("name",), descending=False)
    list_display = ("name", "person", "is_active")
    list_select_related = ("user", "person")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the clients that act for a tenant within reach."""
        rows = admin.ModelAdmin.get_queryset(self, request)
        mine = reach(request)
        if mine.tenant_ids is None:
            return rows
        return rows.filter(user_id__in=mine.narrow(Membership.objects.all()).values("user_id"))

    @admin.display(description="active", boolean=True)
    def is_active(self, client: Any) -> bool:
        """Tell whether its tokens are accepted."""
        return bool(client.user.is_active)


class MembershipAdmin(ConsoleAdmin):
    """Who may see which tenant."""

    keyset = Keyset(("id",))
    list_display = ("user", "tenant")
    list_filter = (TenantFilter,)
    list_select_related = ("user", "tenant")
