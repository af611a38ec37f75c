"""Attempt events and wake-ups, as lists for engineers; the job's page tells them as a story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.urls import reverse
from django.utils.html import format_html

from exports.admin.base import ConsoleAdmin, reach
from exports.admin.filters import KindFilter
from exports.admin.formats import moment
from exports.evidence import shown
from exports.models import ExportJob
from exports.queries.jobs import as_uuid
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from exports.models import ExportAttemptEvent, OutboxMessage

SHORT = 120
"""Characters of a detail in a list; the record's page has all of it."""


def job_link(job_id: UUID) -> SafeString:
    """Return a link to an export's page."""
    return format_html(
        '<a class="id" href="{}">{}</a>', reverse("admin:exports_exportjob_change", args=[job_id]), job_id
    )


class ExportAttemptEventAdmin(ConsoleAdmin):
    """Every event of every attempt, newest first."""

    keyset = Keyset(("id",))
    tenant_path = "job__tenant_id"
    list_display = ("id", "kind", "export", "attempt_id", "observed", "what", "recorded")
    list_filter = (KindFilter,)
    list_select_related = ("job",)
    search_fields = ("job_id",)
    search_help_text = "An export's id."

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 - the framework's signature
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find the events of one export."""
        if not search_term.strip():
            return queryset, False
        return queryset.filter(job_id=as_uuid(search_term.strip())), False

    @admin.display(description="export")
    def export(self, event: ExportAttemptEvent) -> SafeString:
        """Link to the export."""
        return job_link(event.job_id)

    @admin.display(description="by")
    def observed(self, event: ExportAttemptEvent) -> str:
        """Show who recorded it."""
        return shown(event.worker_id or event.observed_by or "")

    @admin.display(description="detail")
    def what(self, event: ExportAttemptEvent) -> str:
        """Show the beginning of the detail."""
        return shown(event.detail or "", SHORT)

    @admin.display(description="recorded")
    def recorded(self, event: ExportAttemptEvent) -> SafeString:
        """Show how long ago, with the exact time."""
        return format_html("{}", moment(event.recorded_at))


class OutboxMessageAdmin(ConsoleAdmin):
    """Wake-ups that wait for the broker, or all of one export's when searched for."""

    keyset = Keyset(("created_at", "message_id"))
    list_display = ("message_id", "export", "kind", "created", "published")
    search_fields = ("job_id",)
    search_help_text = "Shows what waits for the broker. An export's or a wake-up's id finds the others."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the wake-ups of exports within reach; the table names no tenant and has no foreign key."""
        rows = admin.ModelAdmin.get_queryset(self, request)
        mine = reach(request)
        if mine.tenant_ids is None:
            return rows
        return rows.filter(job_id__in=mine.narrow(ExportJob.objects.all()).values("id"))

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 - the framework's signature
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Keep what waits, which an index carries; published ones are found by their export only."""
        meant = as_uuid(search_term.strip())
        if search_term.strip():
            return queryset.filter(Q(job_id=meant) | Q(message_id=meant)), False
        return queryset.filter(published_at=None), False

    @admin.display(description="export")
    def export(self, message: OutboxMessage) -> SafeString:
        """Link to the export."""
        return job_link(message.job_id)

    @admin.display(description="written")
    def created(self, message: OutboxMessage) -> SafeString:
        """Show how long ago, with the exact time."""
        return format_html("{}", moment(message.created_at))

    @admin.display(description="handed to the broker")
    def published(self, message: OutboxMessage) -> SafeString | str:
        """Show when the broker took it."""
        return format_html("{}", moment(message.published_at)) if message.published_at else "not yet"
