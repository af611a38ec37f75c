"""Exports: the list, and the page of one with its whole history and its verbs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from exports.access import actor_name
from exports.admin.base import ConsoleAdmin, reach
from exports.admin.bulk import plan_view, run_view, table_view
from exports.admin.bulk_plan import MOST_JOBS
from exports.admin.code_pages import stepped_up
from exports.admin.facts import facts_of
from exports.admin.filters import (
    AgeFilter,
    AttentionFilter,
    CountedFilter,
    CreatedByFilter,
    DestinationFilter,
    StatusFilter,
    TenantFilter,
)
from exports.admin.formats import ago, code
from exports.admin.frame import PART
from exports.admin.holds import ending_of
from exports.admin.phases import phases_of
from exports.admin.raw import raw_rows
from exports.admin.timeline import timeline_of
from exports.admin.verbs import Screen, Verb, offered_to, panels, verbs
from exports.admin.words import Known, Words, words_of
from exports.models import CancellationRequest, ExportJob, Hold
from exports.queries import jobs
from exports.queries.ages import latest_of
from exports.queries.history import contracts_of, history_of
from exports.queries.holds import held_of
from exports.states import TERMINAL, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from exports.queries.history import History


class ExportJobAdmin(ConsoleAdmin):
    """Answers where the export is that the partner calls about, whether it can be stopped, and whether it left."""

    keyset = jobs.NEWEST_FIRST
    list_display = ("number", "state", "since", "last", "attempts", "created")
    list_display_links = ("number",)
    list_filter = (
        StatusFilter,
        TenantFilter,
        DestinationFilter,
        CreatedByFilter,
        AgeFilter,
        AttentionFilter,
        CountedFilter,
    )
    list_select_related = ("tenant", "destination")
    search_fields = ("id",)
    search_help_text = "An export's id, a delivery key, a final name, a cancellation's or a wake-up's id."

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find what a pasted text means, each by an index; nothing is scanned."""
        term = search_term.strip()
        return (jobs.search(queryset, term, reach(request)) if term else queryset), False

    def prepare(self, request: HttpRequest, rows: list[Any]) -> list[Any]:  # noqa: ARG002 - the hook's signature
        """Give each row of a page its words, in a few queries for all of them."""
        held, clicks = held_of(rows), _clicks_of(rows)
        latest = latest_of(rows, clicks)
        for row in rows:
            known = Known(held=held.get(row.id), stop=clicks.get((row.tenant_id, row.stop_request_id)))
            row.words, row.latest = words_of(row, known), latest[row.id]
        return rows

    @admin.display(description="export")
    def number(self, job: ExportJob) -> SafeString:
        """Show the id whole, as partners and logs name it, and whose it is and where it goes."""
        return format_html('{}<span class="under">{} → {}</span>', code(job.id), job.tenant.name, job.destination.name)

    @admin.display(description="state")
    def state(self, job: Any) -> SafeString:
        """Show mark and sentence."""
        words: Words = job.words
        return words.html

    @admin.display(description="since")
    def since(self, job: Any) -> SafeString:
        """Show how long it has been in this state."""
        return ago(job.latest.since)

    @admin.display(description="last event")
    def last(self, job: Any) -> SafeString | str:
        """Show what was recorded of it last, and when."""
        event = job.latest.event
        if event is None:
            return "—"
        return format_html('{}<span class="under">{}</span>', event.kind, ago(event.recorded_at))

    @admin.display(description="select")
    def chosen(self, job: ExportJob) -> SafeString:
        """Offer it for cancelling many at once."""
        return format_html('<input type="checkbox" name="job" value="{0}" aria-label="Select {0}">', job.id)

    @admin.display(description="attempts")
    def attempts(self, job: ExportJob) -> int:
        """Show how often a worker has taken it."""
        return job.attempt_count

    @admin.display(description="created")
    def created(self, job: ExportJob) -> SafeString:
        """Show how long ago, with the exact time, and by whom."""
        return format_html('{}<span class="under">by {}</span>', ago(job.created_at), job.created_by)

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Return the columns, with a box to tick for whoever may cancel."""
        may = request.user.has_perm("exports.cancel_exportjob")
        return ["chosen", *self.list_display] if may else [*self.list_display]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, or to its own script only the rows."""
        may = {"may_cancel": request.user.has_perm("exports.cancel_exportjob"), "most_jobs": MOST_JOBS}
        answer = super().changelist_view(request, {**(extra_context or {}), **may})
        if request.headers.get(PART) and isinstance(answer, TemplateResponse):
            answer.template_name = "admin/exports/exportjob/rows.html"
        return answer

    def get_urls(self) -> list[URLPattern]:
        """Return the list, the page of one export, and a screen for each verb."""
        view, site = self.admin_site.admin_view, self.admin_site
        assert site is not None  # noqa: S101 - a ModelAdmin is always made by its site
        return [
            path("", view(self.changelist_view), name="exports_exportjob_changelist"),
            path("cancel-many/", view(require_POST(partial(plan_view, self))), name="exports_exportjob_cancel_many"),
            path("cancel-many/<uuid:click>/", view(run_view), name="exports_exportjob_cancel_many_run"),
            path("cancel-many/<uuid:click>/table/", view(table_view), name="exports_exportjob_cancel_many_table"),
            *self._verb_urls(),
            path("<str:job_id>/change/", view(require_safe(self.job_view)), name="exports_exportjob_change"),
        ]

    def _verb_urls(self) -> list[URLPattern]:
        return [
            path(
                f"<str:job_id>/{verb.name}/{screen.route}",
                self.admin_site.admin_view(partial(self.verb_view, verb=verb, screen=screen.view)),
                name=f"exports_exportjob_{screen.name}",
            )
            for verb in verbs()
            for screen in (Screen("", verb.name, verb.view), *verb.screens)
        ]

    def find(self, request: HttpRequest, job_id: str) -> ExportJob:
        """Return the export; raise Http404 for a malformed, missing or foreign one, PermissionDenied without view."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = jobs.find(reach(request), jobs.as_uuid(job_id), actor=actor_name(request.user))
        if job is None:
            raise Http404
        return job

    def verb_view(
        self,
        request: HttpRequest,
        job_id: str,
        *,
        verb: Verb,
        screen: Callable[..., HttpResponseBase] | None = None,
        **captured: Any,
    ) -> HttpResponseBase:
        """Show a verb's screen for one export, to whoever may see the one and use the other."""
        job = self.find(request, job_id)
        if not verb.allowed(request):
            raise PermissionDenied
        if verb.asks_again and (asked := stepped_up(request)) is not None:
            return asked
        return (screen or verb.view)(request, job, **captured)

    def job_view(self, request: HttpRequest, job_id: str) -> TemplateResponse:
        """Show one export: what is known, what happens next, what can be done, and everything that happened."""
        job = self.find(request, job_id)
        history = history_of(job)
        part = "head" if request.headers.get(PART) else "job"
        return TemplateResponse(request, f"admin/exports/exportjob/{part}.html", self._context(request, job, history))

    def _context(self, request: HttpRequest, job: ExportJob, history: History) -> dict[str, Any]:
        now, contracts, held = timezone.now(), contracts_of(history), held_of([job]).get(job.id)
        contributed = [(panel.template, panel.context(request, history)) for panel in panels()]
        return {
            **self.admin_site.each_context(request),
            "title": f"Export {job.id}",
            "opts": self.opts,
            "job": job,
            "has_ended": Status(job.status) in TERMINAL,
            "facts": facts_of(history, held, now),
            "ways": ending_of(request, Hold.objects.select_related("destination").filter(id=held.id)) if held else [],
            "phases": phases_of(history, now),
            "timeline": timeline_of(history, contracts, now),
            "raw": raw_rows(history),
            "family": [(relative, words_of(relative, Known())) for relative in history.family],
            "verbs": [(verb, self._screen(verb, job)) for verb in offered_to(request, job)],
            "panels": [(template, context) for template, context in contributed if context is not None],
        }

    def _screen(self, verb: Verb, job: ExportJob) -> str:
        name = f"{self.admin_site.name}:exports_exportjob_{verb.name}"
        return reverse(name, args=[job.id])


def _clicks_of(rows: list[Any]) -> dict[Any, CancellationRequest]:
    """Return the clicks that asked these exports to stop or cancelled them, by tenant and id, in one query."""
    ids = {each for row in rows for each in (row.stop_request_id, row.cancellation_request_id) if each is not None}
    clicks = CancellationRequest.objects.filter(id__in=ids, tenant_id__in={row.tenant_id for row in rows})
    return {(click.tenant_id, click.id): click for click in clicks} if ids else {}
