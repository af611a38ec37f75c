"""The form for an agreement to overwrite, which a replacement can then name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.record_agreement import Agreement, Recorded, RefTaken, record_agreement
from exports.admin.forms import ActForm, Step, line, lines, sent, step_of
from exports.admin.frame import check_page, job_page, job_url
from exports.models import ExportJob

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

TITLE = "Record an agreement to overwrite"
TAKEN = "This reference is that of another agreement. Use another one."
EFFECTS = (
    "It is kept for good: it cannot be changed or deleted.",
    "By itself it lets nothing be overwritten. A replacement has to name it.",
)


def past_moment(label: str, *, help_text: str = "In UTC.") -> forms.DateTimeField:
    """Return a field for a time that has been; the clocks of the web process and the browser need not agree."""
    widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(label=label, help_text=help_text, widget=widget, validators=[_has_been])


def _has_been(moment: datetime) -> None:
    if moment > timezone.now():
        raise ValidationError("This time is yet to come. Times here are in UTC.")


class AgreementForm(ActForm):
    """Who at the partner agreed to what, and where it is written down."""

    ref = line("Reference", help_text="What replacements name it by: a ticket, a letter, a number of a contract.")
    agreed_by = line("Who at the partner agreed", help_text="A person and their role.")
    agreed_at = past_moment("When they agreed")
    under_contract = lines("Under which contract", help_text="And in which words, as far as they bear on it.")


@require_http_methods(["GET", "HEAD", "POST"])
def agreement_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Show the form, the page to check it on, or lead back to the replacement."""
    form = AgreementForm(sent(request))
    match step_of(request, form):
        case Step.FILL_IN:
            return _fill_in(request, job, form)
        case Step.CHECK:
            return check_page(request, job, TITLE, form, effects=EFFECTS, button="Record it")
        case Step.ACT:
            return _answered(request, job, form)
        case step:
            assert_never(step)


def _fill_in(request: HttpRequest, job: ExportJob, form: AgreementForm) -> HttpResponseBase:
    shown: dict[str, Any] = {"form": form, "effects": EFFECTS, "status": 400 if form.errors else 200}
    return job_page(request, job, "admin/exports/exportjob/fill.html", TITLE, **shown)


def _answered(request: HttpRequest, job: ExportJob, form: AgreementForm) -> HttpResponseBase:
    agreement = Agreement(
        tenant_id=job.tenant_id,
        destination_id=job.destination_id,
        recorded_by=actor_name(request.user),
        **form.cleaned_data,
    )
    match record_agreement(agreement, using=ExportJob.objects.db):
        case Recorded(ref):
            messages.success(request, "The agreement is on record, and chosen below.")
            return HttpResponseRedirect(f"{job_url(job.id, 'replace')}?{urlencode({'agreement': ref})}")
        case RefTaken():
            form.add_error("ref", TAKEN)
            return _fill_in(request, job, form)
        case answer:
            assert_never(answer)
