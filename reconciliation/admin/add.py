"""The page on which a person puts what they have learned beside the worker's evidence; it changes no status (I6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.admin.forms import Step, sent, step_of
from exports.admin.frame import Told, check_page, job_page, job_url, told_page
from exports.admin.verbs import Verb
from exports.evidence import encode
from exports.models import ExportAttemptEvent
from exports.states import EventKind, Status
from reconciliation.actions.add_evidence import Added, Learned, add_evidence
from reconciliation.admin import ALIAS
from reconciliation.admin.add_forms import KINDS, EvidenceForm

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.models import ExportJob

TITLE = "Add evidence"
EFFECTS = (
    "It is kept for good, with your name: it cannot be changed or deleted.",
    "It changes no status. Settling or correcting the outcome is a decision of its own.",
)
NO_ATTEMPT = "No worker has ever taken this export, so there is no attempt that anything could be said about."
MOST_ATTEMPTS = 100


@require_http_methods(["GET", "HEAD", "POST"])
def evidence_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Let a person choose the kind; then show its form, the page to check it on, or lead to what comes next."""
    attempts = _attempts(job)
    if not attempts:
        return told_page(request, job, TITLE, Told("grey", NO_ATTEMPT), status=200)
    kind = KINDS.get(request.GET.get("kind", ""))
    if kind is None:
        kinds = [(name, form.title, form.__doc__) for name, form in KINDS.items()]
        return job_page(request, job, "admin/reconciliation/kinds.html", TITLE, kinds=kinds)
    return _kind_view(request, job, kind(sent(request), attempts=attempts))


def _kind_view(request: HttpRequest, job: ExportJob, form: EvidenceForm) -> HttpResponseBase:
    title = f"{TITLE}: {form.title}"
    match step_of(request, form):
        case Step.FILL_IN:
            shown: dict[str, Any] = {"form": form, "effects": EFFECTS, "status": 400 if form.errors else 200}
            return job_page(request, job, "admin/exports/exportjob/fill.html", title, **shown)
        case Step.CHECK:
            return check_page(request, job, title, form, effects=EFFECTS, button="Add it")
        case Step.ACT:
            return _answered(request, job, UUID(form.cleaned_data["attempt_id"]), form)
        case step:
            assert_never(step)


def _answered(request: HttpRequest, job: ExportJob, attempt_id: UUID, form: EvidenceForm) -> HttpResponseBase:
    learned = form.record(actor_name(request.user))
    match _added(job, attempt_id, learned):
        case Added.ADDED:
            messages.success(request, "The evidence is on record. It has changed no status.")
            unsettled = job.status == Status.OUTCOME_UNKNOWN
            return HttpResponseRedirect(job_url(job.id, "reconcile" if unsettled else "change"))
        case Added.NO_SUCH_ATTEMPT:
            return told_page(request, job, TITLE, Told("red", "There is no such attempt here."), status=404)
        case answer:
            assert_never(answer)


def _added(job: ExportJob, attempt_id: UUID, learned: Learned) -> Added:
    """Add it, unless the very same words are on record: the second of a double click adds nothing."""
    recorded = ExportAttemptEvent.objects.using(ALIAS).filter(
        job_id=job.id, attempt_id=attempt_id, kind=EventKind.DELIVERY_EVIDENCE, detail=encode(learned)
    )
    return Added.ADDED if recorded.exists() else add_evidence(job.tenant_id, job.id, attempt_id, learned, using=ALIAS)


def _attempts(job: ExportJob) -> list[tuple[str, str]]:
    """Return the attempts to choose from, the current one first."""
    claimed = ExportAttemptEvent.objects.using(ALIAS).filter(job_id=job.id, kind=EventKind.CLAIMED)
    ids = list(claimed.order_by("id").values_list("attempt_id", flat=True)[:MOST_ATTEMPTS])
    named = [
        (str(attempt), f"Attempt {number}{' (the current one)' if attempt == job.attempt_id else ''}")
        for number, attempt in enumerate(ids, start=1)
    ]
    return named[::-1]


EVIDENCE = Verb(
    name="evidence",
    label="Add evidence…",
    permission="reconcile_exportjob",
    view=evidence_view,
    offered=lambda job: job.delivery_authorized_at is not None or job.status == Status.FAILED,
)
