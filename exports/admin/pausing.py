"""Pause a destination or a tenant, or freeze everything, with a reason (I5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.open_hold import Held, IdReused, Pause, open_hold
from exports.admin.base import reach
from exports.admin.clicks import minted
from exports.admin.forms import ActForm, hidden_id, lines, sent
from exports.admin.frame import Told, Trail, page, told_plain
from exports.models import Destination, ExportJob, Hold, Tenant
from exports.queries.jobs import as_uuid
from exports.states import HoldCause, Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.template.response import TemplateResponse

MOST_COUNTED = 1_000
"""Exports counted to tell how many wait; beyond it, "more than" says enough."""
REUSED = "This request id belongs to another hold. Nothing was done."


class PauseForm(ActForm):
    """Why, under the id that makes a double click one hold."""

    hold_id = hidden_id()
    reason = lines("Why", help_text="Shown on every export that waits for it.")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be paused: its name in a sentence, its page, and the ids that its hold and its exports have."""

    name: str
    address: str
    tenant_id: UUID | None = None
    destination_id: UUID | None = None

    @property
    def ids(self) -> dict[str, UUID | None]:
        """The scope, as a hold has it."""
        return {"tenant_id": self.tenant_id, "destination_id": self.destination_id}

    @property
    def is_everything(self) -> bool:
        """Whether this is the freeze."""
        return self.tenant_id is None

    @property
    def of_exports(self) -> dict[str, UUID]:
        """The scope, as an export has it."""
        return {name: value for name, value in self.ids.items() if value is not None}


@require_http_methods(["GET", "HEAD", "POST"])
def pause_view(request: HttpRequest) -> HttpResponseBase:
    """Pause the destination or the tenant that the address names."""
    demand(request, "exports.add_hold")
    return _open(request, _subject(request))


@require_http_methods(["GET", "HEAD", "POST"])
def freeze_view(request: HttpRequest) -> HttpResponseBase:
    """Freeze everything: nothing starts and nothing more is authorized, anywhere."""
    demand(request, "exports.add_hold")
    return _open(request, Subject("everything", reverse("admin:exports_hold_changelist")))


def demand(request: HttpRequest, permission: str) -> None:
    """Raise PermissionDenied for whoever lacks it."""
    if not request.user.has_perm(permission):
        raise PermissionDenied


def _subject(request: HttpRequest) -> Subject:
    """Find what the address names; a malformed, missing and foreign id look alike."""
    destination_id, tenant_id = (as_uuid(request.GET.get(name, "")) for name in ("destination", "tenant"))
    if destination_id is not None:
        found = reach(request).narrow(Destination.objects.all()).filter(id=destination_id).first()
        if found is not None:
            address = reverse("admin:exports_destination_change", args=[found.id])
            return Subject(f"destination {found.name}", address, found.tenant_id, found.id)
    elif tenant_id is not None:
        tenant = reach(request).narrow(Tenant.objects.all(), "id").filter(id=tenant_id).first()
        if tenant is not None:
            return Subject(f"tenant {tenant.name}", reverse("admin:exports_tenant_change", args=[tenant.id]), tenant.id)
    raise Http404


def _open(request: HttpRequest, subject: Subject) -> HttpResponseBase:
    held = Hold.objects.filter(**subject.ids, job_id=None, cause__in=(HoldCause.PAUSED, HoldCause.FROZEN))
    # A new id once the last one has ended: pausing again is another decision, a second window is not.
    lived = f"{subject.destination_id or subject.tenant_id} {held.exclude(ended_at=None).count()}"
    form = PauseForm(sent(request), initial={"hold_id": minted(request, "pause", lived)})
    if request.method == "POST" and form.is_valid():
        return _opened(request, subject, form)
    already = list(held.filter(ended_at=None).select_related("tenant", "destination").order_by("created_at"))
    return _open_page(request, subject, form, already)


def _opened(request: HttpRequest, subject: Subject, form: PauseForm) -> HttpResponseBase:
    pause = Pause(
        id=form.cleaned_data["hold_id"],
        created_by=actor_name(request.user),
        reason=form.cleaned_data["reason"],
        **subject.ids,
    )
    match open_hold(pause, using=Hold.objects.db):
        case Held():
            messages.success(request, f"{'Frozen' if subject.is_everything else 'Paused'}: {subject.name}.")
            return HttpResponseRedirect(subject.address)
        case IdReused():
            return told_plain(request, _title(subject), _trail(subject), Told("red", REUSED), status=409)
        case answer:
            assert_never(answer)


def _open_page(request: HttpRequest, subject: Subject, form: PauseForm, already: list[Hold]) -> TemplateResponse:
    return page(
        request,
        "admin/exports/hold/open.html",
        _title(subject),
        _trail(subject),
        status=400 if form.errors else 200,
        form=form,
        effects=_effects(request, subject),
        already=[(hold, reverse("admin:exports_hold_end", args=[hold.id])) for hold in already],
        button="Freeze everything" if subject.is_everything else "Pause it",
        back=subject.address,
    )


def _title(subject: Subject) -> str:
    return "Freeze everything" if subject.is_everything else f"Pause {subject.name}"


def _trail(subject: Subject) -> Trail:
    holds = ("Holds", reverse("admin:exports_hold_changelist"))
    return [holds] if subject.is_everything else [holds, (subject.name, subject.address)]


def _effects(request: HttpRequest, subject: Subject) -> list[str]:
    running, queued = (_counted(request, subject, status) for status in (Status.RUNNING, Status.QUEUED))
    if subject.is_everything:
        return [
            f"No export starts, of any tenant, to any destination. Of yours, {queued} wait now.",
            f"Those being prepared ({running}) are not delivered: they are given back and wait. No attempt is lost.",
            "What is being delivered right now goes on; it can no longer be stopped.",
            "Cancelling, and everything else in this console, works as before.",
        ]
    return [
        f"No export of {subject.name} starts until somebody resumes it. {queued} wait there now.",
        f"Those that have started ({running} being prepared) go on.",
        "What waits burns no attempt, and can still be cancelled or sent elsewhere.",
    ]


def _counted(request: HttpRequest, subject: Subject, status: Status) -> str:
    rows = reach(request).narrow(ExportJob.objects.filter(status=status, **subject.of_exports)).order_by()
    count = len(rows.values_list("id", flat=True)[: MOST_COUNTED + 1])
    return f"more than {MOST_COUNTED:,}" if count > MOST_COUNTED else str(count)
