"""The frame of a page about one export: what is known of it now, where the page stands, and what is told on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from exports.admin.facts import Facts, facts_of
from exports.admin.forms import CONFIRMED
from exports.queries.history import history_of
from exports.queries.holds import held_of
from exports.states import TERMINAL, Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    from exports.admin.forms import ActForm
    from exports.models import ExportJob
    from exports.queries.history import History

PART = "X-Part"
"""The header by which a page's own script asks for the part of it that it keeps fresh."""

Trail = list[tuple[str, str]]
"""Where a page stands: names and addresses from the overview down to its parent."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of an act: its tone, one sentence, what to know besides, and where to go on."""

    tone: str
    sentence: str | SafeString
    notes: tuple[str | SafeString, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def job_url(job_id: UUID, screen: str = "change", *more: object) -> str:
    """Return the address of an export's page, or of one of its screens."""
    return reverse(f"admin:exports_exportjob_{screen}", args=[job_id, *more])


def job_trail(job: ExportJob) -> Trail:
    """Return the way to a page beneath an export's."""
    return [("Exports", reverse("admin:exports_exportjob_changelist")), (str(job.id), job_url(job.id))]


def page(
    request: HttpRequest, template: str, title: str, trail: Trail, *, status: int = 200, **context: Any
) -> TemplateResponse:
    """Return a page of the console in its frame."""
    frame = {**admin.site.each_context(request), "title": title, "trail": trail, **context}
    return TemplateResponse(request, template, frame, status=status)


def job_page(
    request: HttpRequest, job: ExportJob, template: str, title: str, *, status: int = 200, **context: Any
) -> TemplateResponse:
    """Return a page about one export, with what is known of it at this moment."""
    history = context.pop("history", None) or history_of(job)
    known = {"job": job, "facts": known_now(history), "has_ended": Status(job.status) in TERMINAL}
    return page(request, template, title, job_trail(job), status=status, **known, **context)


def known_now(history: History) -> Facts:
    """Return the facts of an export for the head of a page."""
    return facts_of(history, held_of([history.job]).get(history.job.id), timezone.now())


def told_page(request: HttpRequest, job: ExportJob, title: str, told: Told, *, status: int) -> TemplateResponse:
    """Return the page that says what came of an act that left nothing to look at elsewhere."""
    return job_page(request, job, "admin/exports/exportjob/told.html", title, status=status, told=told)


def told_plain(request: HttpRequest, title: str, trail: Trail, told: Told, *, status: int) -> TemplateResponse:
    """Return the same for an act that is about no single export."""
    return page(request, "admin/exports/told_page.html", title, trail, status=status, told=told)


def busy_page(request: HttpRequest, form: ActForm, told: Told, back: str, retry_after_seconds: int) -> HttpResponse:
    """Return the page that offers the same request again; it asks nothing of a database that may be away."""
    shown = {"form": form, "told": told, "back": back, "confirmed": CONFIRMED in request.POST}
    answer = render(request, "admin/exports/exportjob/busy.html", shown, status=503)
    answer["Retry-After"] = str(retry_after_seconds)
    return answer


def check_page(request: HttpRequest, job: ExportJob, title: str, form: ActForm, **context: Any) -> TemplateResponse:
    """Return the page on which answers are read once more before they count."""
    return job_page(request, job, "admin/exports/exportjob/check.html", title, form=form, **context)
