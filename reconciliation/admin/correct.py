"""The page on which a person corrects a record that late evidence proved wrong, once, and sees what that blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.contrib import messages
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.admin.evidence_words import CONCLUSIONS
from exports.admin.forms import LOST, ActForm, Step, choice, hidden_id, line, lines, sent, step_of
from exports.admin.frame import Told, busy_page, check_page, job_page, job_url, told_page
from exports.admin.verbs import Verb
from exports.states import FailureReason, Status
from reconciliation.actions.correct_outcome import (
    Answer,
    Corrected,
    Correction,
    NeverAuthorized,
    NotAReason,
    NotProved,
    RecordMoved,
    ReplacementInProgress,
    SamePerson,
    correct_outcome,
)
from reconciliation.actions.settling import NotFound, Unsettled
from reconciliation.admin import ALIAS
from reconciliation.admin.consequences import consequences
from reconciliation.admin.docket import Docket, docket_of, settled_words
from reconciliation.admin.reconcile import BUSY, MISSING

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.models import ExportJob

TITLE = "Correct a recorded outcome"
NOTHING = "Nothing was recorded."
NOT_PROVED = "The evidence does not identify the file, so it cannot be recorded as delivered."
NOT_AUTHORIZED = "Its delivery was never authorized, so there is no delivery whose record could be wrong."
SAME_PERSON = "You settled this attempt yourself. Somebody else has to correct it."
IN_PROGRESS = "Another replacement holds the original's one place. It has to be cancelled, or to end, first."

OPPOSITE = {Status.COMPLETED: Status.FAILED, Status.FAILED: Status.COMPLETED}
"""What each record can be corrected to; no other record can be corrected."""
WORDS = {
    FailureReason.NOT_DELIVERED: "It was not delivered (NotDelivered)",
    FailureReason.ORIGINAL_DELIVERED: "It sent nothing: the original had been delivered (OriginalDelivered)",
}


class CorrectForm(ActForm):
    """The record that was looked at, what it should say, and what that rests on."""

    attempt_id = hidden_id()
    recorded_status = forms.ChoiceField(
        widget=forms.HiddenInput(),
        choices=[(status.value, status.value) for status in OPPOSITE],
        error_messages={"required": LOST, "invalid_choice": LOST},
    )
    failure_reason = choice("What happened instead?", [], error_messages={"required": "Choose what happened instead."})
    evidence_ref = line("What it rests on", help_text="A ticket, a mail, a letter: where somebody else finds it.")
    reason = lines("Why")

    def __init__(self, *arguments: Any, job: ExportJob, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if self.data.get("recorded_status", job.status) != Status.COMPLETED:
            del self.fields["failure_reason"]
            return
        reasons = [*WORDS] if job.replaces_job_id else [FailureReason.NOT_DELIVERED]
        field = self.fields["failure_reason"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [(reason.value, WORDS[reason]) for reason in reasons]

    @property
    def to(self) -> Status:
        """The status that is to be recorded."""
        return OPPOSITE[Status(self.cleaned_data["recorded_status"])]

    @property
    def failure(self) -> FailureReason | None:
        """The code that goes with Failed; None with Completed."""
        chosen = self.cleaned_data.get("failure_reason")
        return FailureReason(chosen) if chosen else None


@require_http_methods(["GET", "HEAD", "POST"])
def correct_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Show the case and the form, the page to check it on, or what came of the correction."""
    docket = docket_of(job)
    if request.method != "POST" and (told := _closed(docket)):
        return told_page(request, job, TITLE, told, status=200)
    initial = {"attempt_id": docket.job.attempt_id, "recorded_status": docket.job.status}
    form = CorrectForm(sent(request), job=docket.job, initial=initial)
    match step_of(request, form):
        case Step.FILL_IN:
            return _fill_in(request, job, form, docket)
        case Step.CHECK:
            effects = [f"The record will say {form.to} instead.", *consequences(docket, form.to, form.failure)]
            named = {"effects": effects, "button": "Correct the record", "is_dangerous": True}
            return check_page(request, job, TITLE, form, **named)
        case Step.ACT:
            return _answered(request, job, form, correct_outcome(_correction(request, job, form), using=ALIAS))
        case step:
            assert_never(step)


def _closed(docket: Docket) -> Told | None:
    """Say why this record cannot be corrected, as far as it can be seen before anybody has written anything."""
    if docket.corrected is not None:
        return _moved(RecordMoved(Status(docket.job.status), docket.corrected))
    if Status(docket.job.status) not in OPPOSITE:
        return Told("grey", f"It is {docket.job.status}. Only Completed and Failed are corrected.")
    if docket.job.delivery_authorized_at is None:
        return Told("grey", NOT_AUTHORIZED)
    return None


def _correction(request: HttpRequest, job: ExportJob, form: CorrectForm) -> Correction:
    return Correction(
        tenant_id=job.tenant_id,
        job_id=job.id,
        attempt_id=form.cleaned_data["attempt_id"],
        recorded_status=Status(form.cleaned_data["recorded_status"]),
        corrected_status=form.to,
        failure_reason=form.failure,
        corrected_by=actor_name(request.user),
        evidence_ref=form.cleaned_data["evidence_ref"],
        reason=form.cleaned_data["reason"],
    )


def _fill_in(request: HttpRequest, job: ExportJob, form: CorrectForm, docket: Docket) -> HttpResponseBase:
    to = OPPOSITE.get(Status(docket.job.status), Status.COMPLETED)
    either = [(f"Recorded as {to}", consequences(docket, to))]
    shown: dict[str, Any] = {"form": form, "docket": docket, "either": either, "conclusions": CONCLUSIONS}
    status = 400 if form.errors else 200
    return job_page(request, job, "admin/reconciliation/settle.html", TITLE, status=status, **shown)


def _answered(request: HttpRequest, job: ExportJob, form: CorrectForm, answer: Answer) -> HttpResponseBase:
    match answer:
        case Corrected(status):
            messages.success(request, f"Corrected: the record says {status} now.")
            return HttpResponseRedirect(job_url(job.id))
        case Unsettled():
            return busy_page(request, form, Told("amber", BUSY), job_url(job.id), retry_after_seconds=1)
        case NotFound():
            return told_page(request, job, TITLE, Told("red", MISSING), status=404)
        case _:
            return told_page(request, job, TITLE, _refused(job, answer), status=409)


Refusal = RecordMoved | NotProved | NotAReason | SamePerson | NeverAuthorized | ReplacementInProgress


def _refused(job: ExportJob, answer: Refusal) -> Told:
    match answer:
        case RecordMoved():
            return _moved(answer)
        case NotProved(verdict):
            proved = "It proves nothing." if verdict is None else f"It says: {verdict.reason}."
            link = (("Add evidence…", job_url(job.id, "evidence")),)
            return Told("amber", NOT_PROVED, (proved, NOTHING), link)
        case NotAReason():
            return Told("red", "That is not what a correction of this export may record.", (NOTHING,))
        case SamePerson():
            return Told("amber", SAME_PERSON, (NOTHING,))
        case NeverAuthorized():
            return Told("amber", NOT_AUTHORIZED, (NOTHING,))
        case ReplacementInProgress(holder):
            return Told("amber", IN_PROGRESS, (NOTHING,), _ways_to(holder))
        case _:
            assert_never(answer)


def _ways_to(holder: UUID | None) -> tuple[tuple[str, str], ...]:
    if holder is None:
        return ()
    return ((f"Replacement {holder}", job_url(holder)), ("Cancel that replacement…", job_url(holder, "cancel")))


def _moved(answer: RecordMoved) -> Told:
    if answer.by is None:
        return Told("amber", f"The record is not the one you looked at: it is {answer.status} now.", (NOTHING,))
    notes = (settled_words(answer.by), "An attempt's record is corrected once.", "Nothing was recorded by you.")
    return Told("grey", f"It has been corrected already: it is {answer.status}.", notes)


CORRECT = Verb(
    name="correct",
    label="Correct the record…",
    permission="correct_exportjob",
    view=correct_view,
    asks_again=True,
    offered=lambda job: Status(job.status) in OPPOSITE and job.delivery_authorized_at is not None,
)
