"""The cancel page: what a click would most likely find, the click, and what it did find (I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from django.http import Http404, HttpResponseRedirect
from django.views.decorators.http import require_http_methods, require_safe

from exports.access import actor_name
from exports.actions.request_cancellation import (
    Busy,
    BusyCause,
    CancellationAnswer,
    Click,
    NotFound,
    Recorded,
    RequestIdReused,
    decide,
    request_cancellation,
)
from exports.admin import cancel_words
from exports.admin.clicks import another, minted
from exports.admin.forms import ActForm, hidden_id, lines
from exports.admin.frame import PART, Told, busy_page, job_page, job_url, known_now, told_page
from exports.admin.verbs import Screen, Verb
from exports.models import CancellationRequest, ExportJob
from exports.queries.history import history_of
from exports.states import Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.template.response import TemplateResponse

TITLE = "Cancel this export"


class CancelForm(ActForm):
    """The click and why; the first reason recorded for a click stands."""

    request_id = hidden_id()
    reason = lines("Why", required=False, help_text="Kept with your request, for whoever reads its history.")


@require_http_methods(["GET", "HEAD", "POST"])
def cancel_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Show the page, or take the click and lead to its recorded answer."""
    if request.method != "POST":
        return _form_page(request, job, CancelForm(initial={"request_id": minted(request, "cancel", job.id)}))
    form = CancelForm(request.POST)
    if not form.is_valid():
        return _form_page(request, job, form, status=400)
    return _answered(request, job, form, request_cancellation(_click(request, job, form), using=ExportJob.objects.db))


@require_safe
def answer_view(request: HttpRequest, job: ExportJob, request_id: UUID) -> TemplateResponse:
    """Show what was recorded for one click, and the export's state now; it is followed until it has ended."""
    click = _recorded(job, request_id)
    if click is None:
        raise Http404
    history = history_of(job)
    told = cancel_words.told_of(click, history, known_now(history).words)
    part = "answer" if request.headers.get(PART) else "answered"
    template = f"admin/exports/exportjob/{part}.html"
    return job_page(
        request, job, template, "What came of the request to cancel", history=history, click=click, told=told
    )


def _click(request: HttpRequest, job: ExportJob, form: CancelForm) -> Click:
    return Click(
        tenant_id=job.tenant_id,
        job_id=job.id,
        request_id=form.cleaned_data["request_id"],
        requested_by=actor_name(request.user),
        reason=form.cleaned_data["reason"] or None,
    )


def _answered(request: HttpRequest, job: ExportJob, form: CancelForm, answer: CancellationAnswer) -> HttpResponseBase:
    match answer:
        case Recorded(recorded):
            return HttpResponseRedirect(job_url(job.id, "cancel_answer", recorded.id))
        case Busy(_, cause, retry_after_seconds):
            words = cancel_words.BUSY if cause is BusyCause.REFUSED else cancel_words.BUSY_UNKNOWN
            return busy_page(request, form, Told("amber", words), job_url(job.id), retry_after_seconds)
        case RequestIdReused():
            links = (("Make a new request", job_url(job.id, "cancel") + another(request)),)
            return told_page(request, job, TITLE, Told("red", cancel_words.REUSED, links=links), status=409)
        case NotFound():
            return told_page(request, job, TITLE, Told("red", cancel_words.NOT_FOUND), status=404)
        case _:
            assert_never(answer)


def _form_page(request: HttpRequest, job: ExportJob, form: CancelForm, *, status: int = 200) -> TemplateResponse:
    likely = decide(Status(job.status), stop_requested=job.stop_request_id is not None)
    return job_page(
        request,
        job,
        "admin/exports/exportjob/cancel.html",
        TITLE,
        status=status,
        form=form,
        button=cancel_words.BUTTON[likely],
        earlier=_recorded(job, minted(request, "cancel", job.id)),
        another=another(request),
    )


def _recorded(job: ExportJob, request_id: UUID) -> CancellationRequest | None:
    clicks = CancellationRequest.objects.filter(tenant_id=job.tenant_id, id=request_id, job_id=job.id)
    return clicks.first()


CANCEL = Verb(
    name="cancel",
    label="Cancel…",
    permission="cancel_exportjob",
    view=cancel_view,
    offered=lambda job: job.status in {Status.QUEUED, Status.RUNNING},
    is_dangerous=True,
    screens=(Screen("<uuid:request_id>/", "cancel_answer", answer_view),),
)
