"""The page on which a named person decides to send again: what it takes, what it will do, and what came of it (I8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.create_replacement import (
    Created,
    IdReused,
    NoSuchAgreement,
    NotFound,
    NotReplaceable,
    Repeated,
    Replacement,
    ReplacementExists,
    SayWhy,
    Unsettled,
    Wish,
    create_replacement,
    original_of,
)
from exports.admin.agreements import agreement_view
from exports.admin.cancel import CANCEL
from exports.admin.cancel_words import NOT_FOUND
from exports.admin.clicks import another, minted
from exports.admin.forms import Step, sent, step_of
from exports.admin.frame import Told, busy_page, check_page, job_page, job_url, told_page
from exports.admin.replace_form import NO_SUCH_AGREEMENT, SAY_WHY, ReplaceForm
from exports.admin.verbs import Screen, Verb
from exports.admin.words import Known, words_of
from exports.models import ExportJob
from exports.states import REPLACEABLE_FAILURES, FailureReason, Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.utils.safestring import SafeString

TITLE = "Send this export again"
BUSY = "We could not tell whether the replacement was created. Try again: it is created at most once."
REUSED = "This request id belongs to something else. Nothing was done."
NOTHING = "Nothing was sent and no replacement was created."


@require_http_methods(["GET", "HEAD", "POST"])
def replace_view(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """Show the form, the page to check it on, or what came of the decision."""
    original = original_of(job.tenant_id, job.id, ExportJob.objects.db)
    assert original is not None, "an export that was found has an original"  # noqa: S101 - a foreign key holds it
    if request.method != "POST" and not _may_be_replaced(original):
        return told_page(request, job, TITLE, _not_replaceable(original), status=200)
    form = ReplaceForm(sent(request), original=original, initial=_initial(request, original))
    match step_of(request, form):
        case Step.FILL_IN:
            return _fill_in(request, job, form)
        case Step.CHECK:
            effects = _effects(original, form.cleaned_data["agreement"])
            named = {"effects": effects, "button": "Create the replacement", "is_dangerous": True}
            return check_page(request, job, TITLE, form, **named)
        case Step.ACT:
            return _answered(request, job, form, create_replacement(_wish(request, form), using=ExportJob.objects.db))
        case step:
            assert_never(step)


def _initial(request: HttpRequest, original: ExportJob) -> dict[str, object]:
    chosen = request.GET.get("agreement", "")
    return {"request_id": minted(request, "replace", original.id), "agreement": chosen}


def _wish(request: HttpRequest, form: ReplaceForm) -> Wish:
    return Wish(
        tenant_id=form.original.tenant_id,
        replaced_job_id=form.original.id,
        decided_by=actor_name(request.user),
        reason=form.cleaned_data["reason"],
        answers=form.judged,
        overwrite_agreement_ref=form.cleaned_data["agreement"] or None,
        job_id=form.cleaned_data["request_id"],
    )


def _fill_in(request: HttpRequest, job: ExportJob, form: ReplaceForm) -> HttpResponseBase:
    original, mine = form.original, minted(request, "replace", form.original.id)
    return job_page(
        request,
        job,
        "admin/exports/exportjob/replace.html",
        TITLE,
        status=400 if form.errors else 200,
        form=form,
        original=original,
        effects=_effects(original, ""),
        earlier=ExportJob.objects.filter(id=mine, tenant_id=original.tenant_id).first(),
        another=another(request),
    )


def _effects(original: ExportJob, agreement: str) -> list[str | SafeString]:
    overwrites = "It never overwrites: a file that stands under the final name stops it, and nothing is sent."
    if agreement:
        overwrites = f"It may replace a file that stands under the final name, by the agreement {agreement}."
    return [
        format_html(
            'A new export is created in your name, with the delivery key <span class="id">{}</span> of its original,'
            " so that its file has the same final name.",
            original.delivery_key,
        ),
        overwrites,
        (
            "The original keeps its record. If it is found to have been delivered before the replacement's own delivery"
            " is authorized, the replacement is refused and sends nothing."
        ),
        "While it is live, the original can have no other replacement.",
    ]


def _answered(request: HttpRequest, job: ExportJob, form: ReplaceForm, answer: Replacement) -> HttpResponseBase:  # noqa: PLR0911 - one for each answer there is
    match answer:
        case Created(created) | Repeated(created):
            messages.success(request, "This is the replacement. It waits its turn like any other export.")
            return HttpResponseRedirect(job_url(created.id))
        case SayWhy(objections):
            form.add_error("why_nevertheless", SAY_WHY.format(" ".join(objections)))
            return _fill_in(request, job, form)
        case NoSuchAgreement():
            form.add_error("agreement", NO_SUCH_AGREEMENT)
            return _fill_in(request, job, form)
        case NotReplaceable():
            now = ExportJob.objects.get(id=form.original.id)
            return told_page(request, job, TITLE, _not_replaceable(now), status=409)
        case ReplacementExists(holder):
            return told_page(request, job, TITLE, _exists(request, holder), status=409)
        case IdReused():
            links = (("Make a new request", job_url(job.id, "replace") + another(request)),)
            return told_page(request, job, TITLE, Told("red", REUSED, links=links), status=409)
        case NotFound():
            return told_page(request, job, TITLE, Told("red", NOT_FOUND), status=404)
        case Unsettled():
            return busy_page(request, form, Told("amber", BUSY), job_url(job.id), retry_after_seconds=1)
        case _:
            assert_never(answer)


def _may_be_replaced(job: ExportJob) -> bool:
    """Tell whether a row looks as the statement will want it; the statement decides, under the row's lock."""
    failed = job.status == Status.FAILED and FailureReason(str(job.failure_reason)) in REPLACEABLE_FAILURES
    return failed or job.status == Status.OUTCOME_UNKNOWN


def _not_replaceable(original: ExportJob) -> Told:
    stands = format_html("The original stands as: {}", words_of(original, Known()).text)
    links = (("The original", job_url(original.id)),)
    return Told("amber", "The original may not be sent again as it stands.", (stands, NOTHING), links)


def _exists(request: HttpRequest, holder: UUID | None) -> Told:
    sentence = "There is a replacement already: it is live, or it has delivered, or it found the original's file."
    if holder is None:
        return Told("amber", sentence, (NOTHING, "It has ended just now. Look again and decide anew."))
    note = format_html('It is <span class="id">{}</span>.', holder)
    links = [("That replacement", job_url(holder))]
    if CANCEL.allowed(request):
        links.append(("Cancel that replacement…", job_url(holder, "cancel")))
    return Told("amber", sentence, (note, NOTHING), tuple(links))


REPLACE = Verb(
    name="replace",
    label="Send again…",
    permission="replace_exportjob",
    view=replace_view,
    offered=_may_be_replaced,
    screens=(Screen("agreement/", "replace_agreement", agreement_view),),
)
