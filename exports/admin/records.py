"""Attempt events and wake-ups, as lists for engineers; the job's page tells them as a story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.urls import reverse
from django.utils.html import format_html

from exports.admin.base import ConsoleAdmin, reach
from exports.admin.filters import KindFilter
from exports.admin.formats import ago, code
from exports.evidence import shown
from exports.models import ExportJob
from exports.queries.jobs import as_uuid
from exports.queries.keyset import Keyset
from exports.queries.worklist import LOOKED_THROUGH, oldest_looked_at

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from exports.models import ExportAttemptEvent, OutboxMessage

SHORT, WHOLE = 120, 65_536
"""Characters of a detail in a list, and on the record's own page: more than any record of ours has."""


def job_link(job_id: UUID) -> SafeString:
    """Return a link to an export's page."""
    return format_html(
        '<a class="id" href="{}">{}</a>', reverse("admin:exports_exportjob_change", args=[job_id]), job_id
    )


class ExportAttemptEventAdmin(ConsoleAdmin):
    """Every event of every attempt, newest first."""

    keyset = Keyset(("id",))
    tenant_path = "job__tenant_id"
    list_display = ("id", "recorded", "happened", "export", "what")
    fields = ("id", "export", "happened", "version", "recorded", "whole")
    list_filter = (KindFilter,)
    list_select_related = ("job",)
    search_fields = ("job_id",)
    search_help_text = f"An export's id. Members find the others among the newest {LOOKED_THROUGH:,} records."

    def get_search_results(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        """Find the events of one export; without one, members look through the newest of all tenants' records."""
        if not search_term.strip():
            everything = reach(request).tenant_ids is None
            return (queryset if everything else queryset.filter(id__gt=oldest_looked_at())), False
        return queryset.filter(job_id=as_uuid(search_term.strip())), False

    @admin.display(description="export")
    def export(self, event: ExportAttemptEvent) -> SafeString:
        """Link to the export, with the attempt beneath."""
        return format_html('{}<span class="under">attempt {}</span>', job_link(event.job_id), code(event.attempt_id))

    @admin.display(description="kind")
    def happened(self, event: ExportAttemptEvent) -> SafeString:
        """Show the kind, and who recorded it."""
        by = shown(event.worker_id or event.observed_by or "")
        return format_html('{}<span class="under">{}</span>', event.kind, f"by {by}" if by else "")

    @admin.display(description="detail")
    def what(self, event: ExportAttemptEvent) -> str:
        """Show the beginning of the detail."""
        return shown(event.detail or "", SHORT)

    @admin.display(description="detail")
    def whole(self, event: ExportAttemptEvent) -> SafeString:
        """Show the detail as it is stored, a stranger's tricks made visible."""
        return format_html('<pre class="raw">{}</pre>', shown(event.detail or "", WHOLE))

    @admin.display(description="recorded")
    def recorded(self, event: ExportAttemptEvent) -> SafeString:
        """Show how long ago, with the exact time."""
        return ago(event.recorded_at)


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
        return ago(message.created_at)

    @admin.display(description="handed to the broker")
    def published(self, message: OutboxMessage) -> SafeString | str:
        """Show when the broker took it."""
        return ago(message.published_at) if message.published_at else "not yet"
