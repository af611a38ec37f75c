"""The filters of the lists; each keeps its choice in the URL and offers only what the person may see."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.admin import SimpleListFilter
from django.db.models.functions import Now

from exports.admin.base import reach
from exports.models import Destination, Tenant
from exports.queries.jobs import as_uuid, creators_meant
from exports.queries.sums import HOUR, among, counted
from exports.queries.worklist import needing_attention
from exports.states import EventKind, Happened, Status

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
        """Keep one tenant's exports.

        Its id is looked up first: with it in hand, the server reads the tenant's own list from its index.
        """
        if not self.value():
            return queryset
        tenant_id = Tenant.objects.filter(slug=self.value()).values_list("id", flat=True).first()
        return queryset.filter(tenant_id=tenant_id) if tenant_id else queryset.none()


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


class CreatedByFilter(SimpleListFilter):
    """By who created it: typed, since there may be any number of them."""

    title = "created by"
    parameter_name = "created_by"
    is_typed = True

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer a place to type in; the framework leaves out a filter without choices."""
        return [("", "")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep one creator's exports; a bare name is a person's or a client's."""
        name = (self.value() or "").strip()
        return queryset.filter(created_by__in=creators_meant(name)) if name else queryset


class AgeFilter(SimpleListFilter):
    """By when it was created."""

    title = "age"
    parameter_name = "age"

    AGES: ClassVar = {
        "hour": ("Created in the last hour", timedelta(hours=1)),
        "day": ("Created in the last 24 hours", timedelta(days=1)),
        "week": ("Created in the last 7 days", timedelta(days=7)),
    }
    OLDER = "older"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer three young ages and everything older."""
        return [*((key, words) for key, (words, _) in self.AGES.items()), (self.OLDER, "Older than 7 days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep one age, by the database's clock; as of the statement's start, which an index can serve."""
        asked = self.value()
        if asked == self.OLDER:
            return queryset.filter(created_at__lt=Now() - self.AGES["week"][1])
        age = self.AGES.get(asked or "")
        return queryset.filter(created_at__gte=Now() - age[1]) if age else queryset


class CountedFilter(SimpleListFilter):
    """By what a number of the overview counts; offered only on the list that such a number leads to."""

    title = "counted on the overview"
    parameter_name = "counted"

    WORDS: ClassVar = {
        Happened.CREATED: "created",
        Happened.COMPLETED: "delivered",
        Happened.OUTCOME_UNKNOWN: "ended as not known",
        Happened.FAILED: "failed",
        Happened.STOPPED: "stopped",
        Happened.CANCELED: "cancelled",
        Happened.REJECTED: "refused",
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer what is asked for, in words, and nothing otherwise."""
        asked = counted(self.value() or "")
        if asked is None:
            return [(self.value() or "", "nothing that is counted")] if self.value() else []
        until = asked.until - HOUR
        hours = f"{asked.since:%Y-%m-%d %H}:00" + (f" to {until:%m-%d %H}:59" if until > asked.since else " to :59")
        return [(asked.text, f"{self.WORDS[asked.what]} {hours} UTC")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - the framework's signature
        """Keep the exports that the number is made of."""
        asked = counted(self.value() or "")
        return queryset.none() if asked is None else among(queryset, asked)


class AttentionFilter(SimpleListFilter):
    """By whether it waits for a person."""

    title = "needs attention"
    parameter_name = "attention"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - the framework's signature
        """Offer those that do; the worklist says why."""
        return [("yes", "Waits for a person")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep what waits for a person."""
        return needing_attention(queryset, reach(request)) if self.value() == "yes" else queryset
