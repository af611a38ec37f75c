"""Tenants: whose data it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exports.admin.base import ConsoleAdmin
from exports.admin.holds import ways_of
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from django.http import HttpRequest


class TenantAdmin(ConsoleAdmin):
    """Whose contacts are exported."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("slug",), descending=False)
    tenant_path = "id"
    list_display = ("slug", "name", "is_active")

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return pausing and resuming it."""
        return ways_of(request, tenant_id=obj.id, destination_id=None)
