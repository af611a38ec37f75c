"""The page on which a person settles an unknown outcome: the evidence side by side, and what it proves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.admin.evidence_words import CONCLUSIONS
from exports.admin.forms import ActForm, Step, choice, hidden_id, line, lines, sent, step_of
from exports.admin.frame import Told, busy_page, check_page, job_page, job_url, told_page
from exports.admin.verbs import Verb
from exports.states import Status
from reconciliation.actions.reconcile_outcome import (
    PROPOSED,
    AgainstTheEvidence,
    AlreadySettled,
    Decision,
    Reconciled,
    Reconciliation,
    SettleOriginalFirst,
    reconcile_outcome,
)
from reconciliation.actions.settling import NotFound, Unsettled
from reconciliation.admin import ALIAS
from reconciliation.admin.consequences import consequences
from reconciliation.admin.docket import Docket, docket_of, settled_words

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.models import ExportJob
    from exports.verdicts import Verdict

TITLE = "Settle an unknown outcome"
MISSING = "There is no such export here."
BUSY = "We could not tell whether it was recorded. Try again: it is recorded at most once."
CHOICES = [
    (Status.COMPLETED.value, "It was delivered: record it as Completed"),
    (Status.FAILED.value, "It was not delivered: record it as Failed (NotDelivered)"),
]
ORIGINAL_FIRST = "The file that was found is the original's. Its record is settled first."


class ReconcileForm(ActForm):
    """The decision, what it rests on, and why it is made against the evidence, if it is."""

    attempt_id = hidden_id()
    resolution = choice("What happened?", CHOICES, error_messages={"required": "Choose what happened."})
    evidence_ref = line("What it rests on", help_text="A ticket, a mail, a letter: where somebody else finds it.")
    reason = lines("Why")
    why_against = lines(
        "Why otherwise than the evidence says",
        required=False,
        help_text="Needed when you decide otherwise than what the evidence proves, or where it proves nothing.",
    )

    def __init__(self, *arguments: Any, verdict: Verdict | None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.verdict = verdict

    def clean(self) -> dict[str, Any]:
        """Ask why it is decided against the evidence, before it is confirmed."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not self.agrees and not cleaned["why_against"]:
            self.add_error("why_against", against(self.verdict))
        return cleaned

    @property
    def resolution_chosen(self) -> Status:
        """The status that is to be recorded."""
        return Status(self.cleaned_data["resolution"])

    @property
    def agrees(self) -> bool:
        """Whether the evidence proves what was chosen."""
        return self.verdict is not None and PROPOSED.get(self.verdict.conclusion) is self.resolution_chosen


def against(verdict: Verdict | None) -> str:
    """Return what a person is asked who decides otherwise than the evidence."""
    if verdict is None or verdict.conclusion not in PROPOSED:
        return "The evidence proves neither. Say why you decide this."
    return f"The evidence says: {CONCLUSIONS[verdict.conclusion]}. Say why you decide otherwise."


@require_http_methods(["GET", "HEAD", "POST"])
def reconcile_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Show the case and the form, the page to check it on, or what came of the decision."""
    docket = docket_of(job)
    if request.method != "POST" and (told := _closed(docket)):
        return told_page(request, job, TITLE, told, status=200)
    form = ReconcileForm(sent(request), verdict=docket.verdict, initial={"attempt_id": docket.job.attempt_id})
    match step_of(request, form):
        case Step.FILL_IN:
            return _fill_in(request, job, form, docket)
        case Step.CHECK:
            effects = consequences(docket, form.resolution_chosen)
            named = {"effects": effects, "button": "Record it", "is_dangerous": True}
            return check_page(request, job, TITLE, form, **named)
        case Step.ACT:
            return _answered(request, job, form, reconcile_outcome(_decision(request, job, form), using=ALIAS))
        case step:
            assert_never(step)


def _closed(docket: Docket) -> Told | None:
    """Say why there is nothing to settle here, or not yet."""
    if docket.original_first is not None:
        return _original_first(docket.original_first)
    if docket.job.status != Status.OUTCOME_UNKNOWN:
        return _settled(AlreadySettled(Status(docket.job.status), docket.reconciled))
    return None


def _decision(request: HttpRequest, job: ExportJob, form: ReconcileForm) -> Decision:
    return Decision(
        tenant_id=job.tenant_id,
        job_id=job.id,
        attempt_id=form.cleaned_data["attempt_id"],
        resolution=form.resolution_chosen,
        decided_by=actor_name(request.user),
        evidence_ref=form.cleaned_data["evidence_ref"],
        reason=form.cleaned_data["reason"],
        why_against=form.cleaned_data["why_against"],
    )


def _fill_in(request: HttpRequest, job: ExportJob, form: ReconcileForm, docket: Docket) -> HttpResponseBase:
    both = [(words, consequences(docket, Status(value))) for value, words in CHOICES]
    shown: dict[str, Any] = {"form": form, "docket": docket, "either": both, "conclusions": CONCLUSIONS}
    status = 400 if form.errors else 200
    return job_page(request, job, "admin/reconciliation/settle.html", TITLE, status=status, **shown)


def _answered(request: HttpRequest, job: ExportJob, form: ReconcileForm, answer: Reconciliation) -> HttpResponseBase:
    match answer:
        case Reconciled(resolution):
            messages.success(request, f"Recorded: {resolution}.")
            return HttpResponseRedirect(job_url(job.id))
        case AlreadySettled():
            return told_page(request, job, TITLE, _settled(answer), status=409)
        case AgainstTheEvidence(proposal):
            form.add_error("why_against", against(proposal))
            return _fill_in(request, job, form, docket_of(job))
        case SettleOriginalFirst(original_job_id):
            return _original_refused(request, job, original_job_id)
        case NotFound():
            return told_page(request, job, TITLE, Told("red", MISSING), status=404)
        case Unsettled():
            return busy_page(request, form, Told("amber", BUSY), job_url(job.id), retry_after_seconds=1)
        case _:
            assert_never(answer)


def _settled(answer: AlreadySettled) -> Told:
    notes = (settled_words(answer.by),) if answer.by else ()
    sentence = f"There is nothing to settle here: it is {answer.status}."
    return Told("grey", sentence, (*notes, "Nothing was recorded by you."))


def _original_refused(request: HttpRequest, job: ExportJob, original_id: UUID) -> HttpResponseBase:
    docket = docket_of(job)
    link = (("The original", job_url(original_id)),)
    told = _original_first(docket.original_first) if docket.original_first else Told("amber", ORIGINAL_FIRST, (), link)
    return told_page(request, job, TITLE, told, status=409)


def _original_first(original: ExportJob) -> Told:
    unknown = original.status == Status.OUTCOME_UNKNOWN
    screen, words = ("reconcile", "Settle the original…") if unknown else ("correct", "Correct the original's record…")
    links = ((words, job_url(original.id, screen)), ("The original", job_url(original.id)))
    return Told("amber", ORIGINAL_FIRST, ("Nothing was recorded.",), links)


RECONCILE = Verb(
    name="reconcile",
    label="Settle the outcome…",
    permission="reconcile_exportjob",
    view=reconcile_view,
    asks_again=True,
    offered=lambda job: job.status == Status.OUTCOME_UNKNOWN,
)
