"""The contacts themselves: seen by nobody but who has that permission apart, and every look is logged.

None of the five groups has it: operating, replacing, settling and administering exports need no contact.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from exports.access import actor_name
from exports.admin.base import ConsoleAdmin
from exports.admin.filters import TenantFilter
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)


class ContactAdmin(ConsoleAdmin):
    """Contacts of tenants within reach, found by the CRM's own key."""

    keyset = Keyset(("id",))
    list_display = ("external_id", "email", "given_name", "family_name", "tenant")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant",)
    fields = (
        "tenant",
        "external_id",
        "email",
        "given_name",
        "family_name",
        "phone",
        "company",
        "country",
        "notes",
    )
    search_fields = ("external_id",)
    search_help_text = "The CRM's own key of a contact, whole."

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 - the framework's signature
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find by the key, which an index carries; names and addresses are not searched."""
        term = search_term.strip()
        return (queryset.filter(external_id=term) if term else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, and log who looked."""
        if self.has_view_permission(request):
            logger.info("contacts_listed", extra={"actor": actor_name(request.user)})
        return super().changelist_view(request, extra_context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show one, and log who looked at which, by its number here and by no value of it."""
        if self.has_view_permission(request):
            seen = object_id if object_id.isascii() and object_id.isdigit() else ""
            logger.info("contact_seen", extra={"actor": actor_name(request.user), "contact_id": seen})
        return super().change_view(request, object_id, form_url, extra_context)
