"""The terms page: send a queued export to another destination, from the version that was looked at (I1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.contrib import messages
from django.http import HttpResponseRedirect
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.change_terms import (
    Changed,
    NoSuchExport,
    NotChanged,
    TermsAnswer,
    TermsBusy,
    TermsEdit,
    change_terms,
)
from exports.admin.formats import ago
from exports.admin.forms import LOST, ActForm, Step, lines, sent, step_of
from exports.admin.frame import Told, busy_page, check_page, job_page, job_url, told_page
from exports.admin.verbs import Verb
from exports.admin.words import Known, words_of
from exports.models import Destination, ExportJob, TermsChange
from exports.states import Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.utils.safestring import SafeString

TITLE = "Send this export to another destination"
BUSY = "We could not tell whether it was changed. Try again: it is changed at most once."
MOST_DESTINATIONS = 500
"""Destinations of one tenant to choose from; a longer list is no choice."""
HIGHEST_VERSION = 2_147_483_647


class TermsForm(ActForm):
    """Where to, why, and the version that was looked at."""

    expected_version = forms.IntegerField(
        widget=forms.HiddenInput(),
        min_value=1,
        max_value=HIGHEST_VERSION,
        error_messages={"required": LOST, "invalid": LOST},
    )
    destination = forms.ChoiceField(
        label="Send it to", error_messages={"required": "Choose where it should go."}, widget=forms.Select()
    )
    reason = lines("Why", help_text="Kept with the change, for whoever reads the export's history.")

    def __init__(self, *arguments: Any, elsewhere: list[Destination], **named: Any) -> None:
        super().__init__(*arguments, **named)
        choices = [(str(each.id), each.name) for each in elsewhere]
        field = self.fields["destination"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", "Choose one"), *choices]
        field.error_messages["invalid_choice"] = "That destination is not enabled any more. Choose another one."


@require_http_methods(["GET", "HEAD", "POST"])
def terms_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Show the form, the page to check it on, or what came of the change."""
    elsewhere = _elsewhere(request, job)
    if (told := _closed(job, elsewhere)) and request.method != "POST":
        return told_page(request, job, TITLE, told, status=200)
    form = TermsForm(sent(request), elsewhere=elsewhere, initial={"expected_version": job.version})
    match step_of(request, form):
        case Step.FILL_IN:
            status = 400 if form.errors else 200
            return job_page(request, job, "admin/exports/exportjob/fill.html", TITLE, form=form, status=status)
        case Step.CHECK:
            return _check(request, job, form)
        case Step.ACT:
            edit = _edit(request, job, form)
            return _answered(request, job, form, edit, change_terms(edit, using=ExportJob.objects.db))
        case step:
            assert_never(step)


def _elsewhere(request: HttpRequest, job: ExportJob) -> list[Destination]:
    """Return what can be chosen. An answer may name where the export goes by now: that is judged by the statement."""
    enabled = Destination.objects.filter(tenant_id=job.tenant_id, is_enabled=True)
    others = enabled if request.method == "POST" else enabled.exclude(id=job.destination_id)
    return list(others.order_by("name")[:MOST_DESTINATIONS])


def _check(request: HttpRequest, job: ExportJob, form: TermsForm) -> HttpResponseBase:
    """Show the answers once more, or say at once that the race is lost already."""
    edit = _edit(request, job, form)
    if job.version != edit.expected_version or job.status != Status.QUEUED or job.replaces_job_id is not None:
        return _lost(request, job, edit, job)
    return check_page(request, job, TITLE, form, effects=_effects(job, form), button="Send it there")


def _closed(job: ExportJob, elsewhere: list[Destination]) -> Told | None:
    """Say why there is nothing to choose; the statement would refuse it, and here a person reads why."""
    if job.replaces_job_id is not None:
        return Told("grey", "This is a replacement. It goes where its original went, and nowhere else.")
    if job.status != Status.QUEUED:
        return Told("grey", "Only an export that waits can be sent elsewhere. This one has started, or it has ended.")
    if not elsewhere:
        return Told("grey", "This tenant has no other destination that is enabled.")
    return None


def _edit(request: HttpRequest, job: ExportJob, form: TermsForm) -> TermsEdit:
    return TermsEdit(
        tenant_id=job.tenant_id,
        job_id=job.id,
        destination_id=_chosen(form),
        expected_version=form.cleaned_data["expected_version"],
        changed_by=actor_name(request.user),
        reason=form.cleaned_data["reason"],
    )


def _chosen(form: TermsForm) -> UUID:
    choice: UUID = Destination._meta.pk.to_python(form.cleaned_data["destination"])  # noqa: SLF001 - documented
    return choice


def _effects(job: ExportJob, form: TermsForm) -> list[str | SafeString]:
    version = form.cleaned_data["expected_version"]
    return [
        format_html("It no longer goes to <strong>{}</strong>.", job.destination.name),
        (
            f"You looked at version {version}; this makes version {version + 1}. A worker that has judged version"
            f" {version} can no longer start it."
        ),
        "It is judged anew by policy and waits its turn again.",
        "If it has started or somebody has changed it meanwhile, nothing is changed and you are told.",
    ]


def _answered(
    request: HttpRequest, job: ExportJob, form: TermsForm, edit: TermsEdit, answer: TermsAnswer
) -> HttpResponseBase:
    match answer:
        case Changed(version):
            return _done(request, job, version)
        case NotChanged(now):
            mine = _recorded(edit)
            return _done(request, job, mine.version) if mine else _lost(request, job, edit, now)
        case NoSuchExport():
            return told_page(request, job, TITLE, Told("red", "There is no such export here."), status=404)
        case TermsBusy(retry_after_seconds):
            return busy_page(request, form, Told("amber", BUSY), job_url(job.id), retry_after_seconds)
        case _:
            assert_never(answer)


def _done(request: HttpRequest, job: ExportJob, version: int) -> HttpResponseBase:
    messages.success(request, f"Changed. It goes to the other destination, as version {version}.")
    return HttpResponseRedirect(job_url(job.id))


def _recorded(edit: TermsEdit) -> TermsChange | None:
    """Return this edit's own record: the second of a double click is told what the first one did."""
    return TermsChange.objects.filter(
        job_id=edit.job_id,
        version=edit.expected_version + 1,
        to_destination_id=edit.destination_id,
        changed_by=edit.changed_by,
        reason=edit.reason,
    ).first()


def _lost(request: HttpRequest, job: ExportJob, edit: TermsEdit, now: ExportJob) -> HttpResponseBase:
    notes = (_why_not(edit, now), "Your change was not made. Nothing else was done.")
    links = (("Start again from how it is now", job_url(job.id, "terms")),)
    told = Told("amber", "Not changed.", notes, links)
    fresh = ExportJob.objects.select_related("tenant", "destination").get(id=job.id)
    return told_page(request, fresh, TITLE, told, status=409)


def _why_not(edit: TermsEdit, now: ExportJob) -> str | SafeString:
    if now.version != edit.expected_version:
        return _moved(edit, now)
    if now.status != Status.QUEUED:
        return format_html("It has started or ended since you looked: {}", words_of(now, Known()).text)
    if now.replaces_job_id is not None:
        return "It is a replacement, which goes where its original went."
    return "That destination is not enabled any more."


def _moved(edit: TermsEdit, now: ExportJob) -> str | SafeString:
    changes = TermsChange.objects.select_related("to_destination")
    change = changes.filter(job_id=now.id, version=now.version).first()
    if change is None:
        return f"You looked at version {edit.expected_version}; it is version {now.version} now."
    return format_html(
        "{} sent it to {} {}: you looked at version {}, and it is version {} now. Why: {}",
        change.changed_by,
        change.to_destination.name,
        ago(change.recorded_at),
        edit.expected_version,
        now.version,
        change.reason or "no reason given",
    )


TERMS = Verb(
    name="terms",
    label="Send elsewhere…",
    permission="change_terms_exportjob",
    view=terms_view,
    offered=lambda job: job.status == Status.QUEUED and job.replaces_job_id is None,
)
