"""Cancel many exports at once: what it would most likely come to, then export by export, then what it came to."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from exports.access import actor_name
from exports.admin.base import reach
from exports.admin.bulk_plan import MOST_JOBS, Plan, expected, find, planned, recorded
from exports.admin.bulk_run import STEP_JOBS, again, begin, step
from exports.admin.forms import ActForm, lines, sent
from exports.admin.frame import PART, Trail, page
from exports.admin.timeline import clicked
from exports.models import ExportJob
from exports.queries.jobs import as_uuid
from exports.states import CancellationOutcome

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.template.response import TemplateResponse

    from exports.admin.jobs import ExportJobAdmin

TITLE = "Cancel many exports"
MATCHING, SELECTED = "matching", "selected"
MOST_SHOWN = 200
"""Exports in the table of the page; the download has them all."""
NO_ANSWER = "no answer; nothing is recorded of it, and it can be tried again"
NOTHING_CHOSEN = "No export was chosen. Tick some, or narrow the list and take all that match."
RISKY = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula."""

COLUMNS = ("export", "tenant", "destination", "outcome", "found", "recorded_at", "request", "reason")

EXPECTED = {
    CancellationOutcome.CANCELED_WHILE_QUEUED: "would be cancelled before they start",
    CancellationOutcome.STOP_REQUESTED: "would be asked to stop; each stops unless delivery is authorized first",
    CancellationOutcome.STOP_ALREADY_REQUESTED: "have been asked to stop already",
    CancellationOutcome.ALREADY_CANCELED: "have been cancelled already",
    CancellationOutcome.ALREADY_ENDED: "have ended already",
    CancellationOutcome.TOO_LATE: "are too late to stop: delivery was authorized",
}


class BulkForm(ActForm):
    """Why; kept with each export's request."""

    reason = lines("Why", help_text="Kept with the request of each export.")


def plan_view(admin: ExportJobAdmin, request: HttpRequest) -> HttpResponseBase:
    """Plan a bulk cancel of what is ticked, or of all that the list's filters match."""
    _demand(request)
    chosen = _matching(admin, request) if MATCHING in request.POST else _selected(admin, request)
    plan = planned(_user_id(request), chosen)
    if not plan.jobs:
        messages.warning(request, NOTHING_CHOSEN)
        query = request.META.get("QUERY_STRING", "")
        return HttpResponseRedirect(f"{reverse('admin:exports_exportjob_changelist')}?{query}")
    return HttpResponseRedirect(_address(plan))


@require_http_methods(["GET", "HEAD", "POST"])
def run_view(request: HttpRequest, click: UUID) -> HttpResponseBase:
    """Show a plan before, while and after it runs; each POST takes it one step further."""
    plan = _find(request, click)
    form = BulkForm(sent(request)) if not plan.has_started else None
    if request.method == "POST" and (form is None or form.is_valid()):
        _further(request, plan, form)
        return HttpResponseRedirect(_address(plan))
    return _progress_page(request, plan) if plan.has_started else _preview_page(request, plan, form)


@require_safe
def table_view(request: HttpRequest, click: UUID) -> HttpResponse:
    """Return the outcome of each export as a file."""
    plan = _find(request, click)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="cancelled-{plan.click}.csv"'
    writer = csv.writer(answer)
    writer.writerow(COLUMNS)
    writer.writerows([_harmless(str(value)) for value in row.values()] for row in rows_of(request, plan))
    return answer


def _demand(request: HttpRequest) -> None:
    if not (request.user.has_perm("exports.view_exportjob") and request.user.has_perm("exports.cancel_exportjob")):
        raise PermissionDenied


def _user_id(request: HttpRequest) -> int:
    assert request.user.pk is not None, "only who is signed in gets here"  # noqa: S101 - a view's bug
    return int(request.user.pk)


def _find(request: HttpRequest, click: UUID) -> Plan:
    _demand(request)
    plan = find(click, _user_id(request))
    if plan is None:
        raise Http404
    return plan


def _address(plan: Plan, screen: str = "run") -> str:
    return reverse(f"admin:exports_exportjob_cancel_many_{screen}", args=[plan.click])


def _matching(admin: ExportJobAdmin, request: HttpRequest) -> list[tuple[UUID, UUID]]:
    """Return all that the filters of the address match, the newest first."""
    try:
        rows = admin.get_changelist_instance(request).queryset
    except IncorrectLookupParameters as error:
        raise Http404 from error
    newest = rows.order_by(*admin.keyset.ordering())
    return list(newest.values_list("id", "tenant_id")[: MOST_JOBS + 1])


def _selected(admin: ExportJobAdmin, request: HttpRequest) -> list[tuple[UUID, UUID]]:
    ids = [as_uuid(text) for text in request.POST.getlist("job")]
    return list(admin.get_queryset(request).filter(id__in=ids).values_list("id", "tenant_id"))


def _further(request: HttpRequest, plan: Plan, form: BulkForm | None) -> None:
    if form is not None:
        begin(plan, form.cleaned_data["reason"])
    elif "again" in request.POST:
        again(plan)
    step(plan, actor_name(request.user), reach(request))


def _trail() -> Trail:
    return [("Exports", reverse("admin:exports_exportjob_changelist"))]


def _preview_page(request: HttpRequest, plan: Plan, form: BulkForm | None) -> TemplateResponse:
    counts = expected(plan)
    likely = [(counts[outcome], words) for outcome, words in EXPECTED.items() if outcome in counts]
    shown: dict[str, Any] = {"form": form, "plan": plan, "likely": likely, "total": len(plan.jobs), "most": MOST_JOBS}
    status = 400 if form is not None and form.errors else 200
    return page(request, "admin/exports/bulk/preview.html", TITLE, _trail(), status=status, step=STEP_JOBS, **shown)


def _progress_page(request: HttpRequest, plan: Plan) -> TemplateResponse:
    answered = recorded(plan)
    counts = Counter(CancellationOutcome(click.outcome) for click in answered)
    came_to = [(counts[outcome], clicked(outcome)) for outcome in CancellationOutcome if counts[outcome]]
    tried = len(plan.jobs) - len(plan.todo)
    shown: dict[str, Any] = {
        "plan": plan,
        "total": len(plan.jobs),
        "left": len(plan.todo),
        "tried": tried,
        "came_to": came_to,
        "unanswered": len(plan.jobs) - len(answered) if not plan.todo else 0,
        "rows": [] if plan.todo else rows_of(request, plan)[:MOST_SHOWN],
        "most_shown": MOST_SHOWN,
        "table": _address(plan, "table"),
    }
    template = "admin/exports/bulk/progress.html" if request.headers.get(PART) else "admin/exports/bulk/run.html"
    return page(request, template, TITLE, _trail(), **shown)


def rows_of(request: HttpRequest, plan: Plan) -> list[dict[str, Any]]:
    """Return a row for each export still within reach; what was not simply cancelled stands first."""
    answered = {click.job_id: click for click in recorded(plan)}
    jobs = reach(request).narrow(ExportJob.objects.select_related("tenant", "destination").filter(id__in=plan.jobs))
    rows = [_row(job, answered.get(job.id)) for job in jobs]
    simple = clicked(CancellationOutcome.CANCELED_WHILE_QUEUED)
    return sorted(rows, key=lambda row: (row["outcome"] == simple, row["outcome"], str(row["export"])))


def _row(job: ExportJob, click: Any) -> dict[str, Any]:
    told = {
        "outcome": clicked(CancellationOutcome(click.outcome)) if click else NO_ANSWER,
        "found": click.found_status if click else "",
        "recorded_at": click.recorded_at.isoformat() if click else "",
        "request": click.id if click else "",
        "reason": click.reason or "" if click else "",
    }
    return {"export": job.id, "tenant": job.tenant.slug, "destination": job.destination.name, **told}


def _harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(RISKY) else text
