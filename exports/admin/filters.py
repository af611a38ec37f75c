"""The filters of the lists; each keeps its choice in the URL and offers only what the person may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin import SimpleListFilter

from exports.admin.base import reach
from exports.models import Destination, Tenant
from exports.queries.jobs import as_uuid
from exports.states import EventKind, Status

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

MOST_CHOICES = 50
"""Choices that a person can still read; beyond it, the URL or the search finds the rest."""


class StatusFilter(SimpleListFilter):
    """By status."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer every status there is."""
        return [(status.value, status.value) for status in Status]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep the exports of one status."""
        return queryset.filter(status=self.value()) if self.value() else queryset


class TenantFilter(SimpleListFilter):
    """By tenant; shown only to people who see more than one."""

    title = "tenant"
    parameter_name = "tenant"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer the tenants within reach."""
        tenants = reach(request).narrow(Tenant.objects.all(), "id").order_by("slug")[:MOST_CHOICES]
        return [(tenant.slug, tenant.name) for tenant in tenants]

    def has_output(self) -> bool:
        """One tenant is no choice."""
        return len(self.lookup_choices) > 1

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep one tenant's exports."""
        return queryset.filter(tenant__slug=self.value()) if self.value() else queryset


class DestinationFilter(SimpleListFilter):
    """By where it goes."""

    title = "destination"
    parameter_name = "destination"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer the destinations within reach."""
        destinations = reach(request).narrow(Destination.objects.select_related("tenant")).order_by("name")
        return [
            (str(destination.id), f"{destination.name} ({destination.tenant.slug})")
            for destination in destinations[:MOST_CHOICES]
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep the exports to one destination; a text that is no id means none."""
        if not self.value():
            return queryset
        destination_id = as_uuid(self.value() or "")
        return queryset.filter(destination_id=destination_id) if destination_id else queryset.none()


class KindFilter(SimpleListFilter):
    """By what kind of event it is."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer every kind there is."""
        return [(kind.value, kind.value) for kind in EventKind]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep one kind of event."""
        return queryset.filter(kind=self.value()) if self.value() else queryset


class OpenFilter(SimpleListFilter):
    """By whether a hold still holds."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer both."""
        return [("open", "Holds now"), ("ended", "Ended")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep one of the two."""
        match self.value():
            case "open":
                return queryset.filter(ended_at=None)
            case "ended":
                return queryset.exclude(ended_at=None)
            case _:
                return queryset
