"""Confirm or turn down what another person has written, from one's own session (SECURITY: a changed destination)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.confirm_contract import confirm_contract
from exports.actions.deciding import (
    Decided,
    DecidedBefore,
    NoSuchContract,
    NotReady,
    OnePerson,
    Superseded,
    Verdict,
)
from exports.actions.decline_contract import decline_contract
from exports.admin.agreed.changes import changes
from exports.admin.agreed.finding import contract_url, destination_trail, destination_url, own_contract
from exports.admin.formats import ago
from exports.admin.forms import ActForm, lines, sent
from exports.admin.frame import Told, page, told_plain
from exports.conf import limits
from exports.models import DestinationContract
from exports.probing import activation_problems
from exports.queries.agreed import decision_on, standing_of
from exports.states import Decision

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.actions.deciding import Refused
    from exports.queries.agreed import Standing

PERMISSION = "confirm_destinationcontract"
EFFECTS = {
    Decision.CONFIRMED: (
        "Every export that starts from now on works under it. Those that have started keep theirs.",
        "It cannot be undone: the way back is a further version.",
    ),
    Decision.DECLINED: (
        "It never comes into force. What is in force stays so.",
        "The next version starts from what is in force, not from this.",
    ),
}
BUTTONS = {Decision.CONFIRMED: "Confirm it", Decision.DECLINED: "Turn it down"}


class DecideForm(ActForm):
    """Why it is decided so."""

    reason = lines("Why", help_text="What you compared it with, or what is wrong with it. Kept for good.")


@require_http_methods(["GET", "HEAD", "POST"])
def confirm_view(request: HttpRequest, contract_id: UUID) -> HttpResponseBase:
    """Show what would come into force, and confirm it."""
    return _view(request, contract_id, Decision.CONFIRMED)


@require_http_methods(["GET", "HEAD", "POST"])
def decline_view(request: HttpRequest, contract_id: UUID) -> HttpResponseBase:
    """Show what was proposed, and turn it down."""
    return _view(request, contract_id, Decision.DECLINED)


def _view(request: HttpRequest, contract_id: UUID, wanted: Decision) -> HttpResponseBase:
    contract = own_contract(request, contract_id, PERMISSION)
    standing = standing_of(contract.destination)
    form = DecideForm(sent(request))
    if request.method == "POST" and form.is_valid():
        return _answered(request, contract, wanted, form.cleaned_data["reason"])
    before = _told_before(request, contract, standing, wanted)
    if before is not None:
        return told_plain(
            request, _title(contract, wanted), destination_trail(contract.destination), before, status=200
        )
    return _page(request, contract, standing, wanted, form)


def _title(contract: DestinationContract, wanted: Decision) -> str:
    verb = "Confirm" if wanted is Decision.CONFIRMED else "Turn down"
    return f"{verb} version {contract.version} of {contract.destination.name}"


def _told_before(
    request: HttpRequest, contract: DestinationContract, standing: Standing, wanted: Decision
) -> Told | None:
    """Say why there is nothing to decide for this person, None where there is."""
    decision = decision_on(contract)
    if decision is not None:
        return told_of(contract, DecidedBefore(decision))
    if standing.latest is not None and standing.latest.id != contract.id:
        return told_of(contract, Superseded(standing.latest))
    is_author = actor_name(request.user) in standing.authors
    if wanted is Decision.CONFIRMED and is_author and not limits().allow_same_person_confirmation:
        return told_of(contract, OnePerson(standing.authors))
    return None


def _page(
    request: HttpRequest, contract: DestinationContract, standing: Standing, wanted: Decision, form: DecideForm
) -> HttpResponseBase:
    is_author = actor_name(request.user) in standing.authors
    confirms = wanted is Decision.CONFIRMED
    shown: dict[str, Any] = {
        "contract": contract,
        "active": standing.active,
        "authors": standing.authors,
        "changes": changes(standing.active.terms if standing.active else None, contract.terms),
        "problems": _problems(contract, DestinationContract.objects.db) if confirms else [],
        "alone": is_author and confirms,
        "effects": EFFECTS[wanted],
        "button": BUTTONS[wanted],
        "confirms": confirms,
        "back": destination_url(contract.destination_id),
        "probe": destination_url(contract.destination_id, "probe"),
        "form": form,
    }
    trail = destination_trail(contract.destination)
    title, status = _title(contract, wanted), 400 if form.errors else 200
    return page(request, "admin/exports/destination/decide.html", title, trail, status=status, **shown)


def _problems(contract: DestinationContract, using: str) -> list[str]:
    return activation_problems(contract.destination_id, using, contract)


def _answered(request: HttpRequest, contract: DestinationContract, wanted: Decision, reason: str) -> HttpResponseBase:
    answer = _decide(request, contract, wanted, reason)
    if isinstance(answer, Decided):
        words = "is in force" if wanted is Decision.CONFIRMED else "is turned down"
        messages.success(request, f"Version {contract.version} {words}.")
        return HttpResponseRedirect(destination_url(contract.destination_id))
    told = told_of(contract, answer)
    return told_plain(request, _title(contract, wanted), destination_trail(contract.destination), told, status=409)


def _decide(
    request: HttpRequest, contract: DestinationContract, wanted: Decision, reason: str
) -> Decided | NotReady | Refused:
    verdict = Verdict(
        tenant_id=contract.destination.tenant_id,
        contract_id=contract.id,
        decided_by=actor_name(request.user),
        reason=reason,
    )
    using = DestinationContract.objects.db
    if wanted is Decision.DECLINED:
        return decline_contract(verdict, using=using)
    alone = limits().allow_same_person_confirmation
    return confirm_contract(verdict, allow_same_person=alone, judge=_problems, using=using)


def told_of(contract: DestinationContract, answer: NotReady | Refused) -> Told:
    """Say why nothing was recorded."""
    back = (f"Destination {contract.destination.name}", destination_url(contract.destination_id))
    match answer:
        case DecidedBefore(decision):
            words = "confirmed" if decision.decision == Decision.CONFIRMED else "turned down"
            by = format_html(
                "{} {} it {}. Why: {}", decision.decided_by, words, ago(decision.decided_at), decision.reason
            )
            return Told("grey", "This version is decided already.", (by, "Nothing was done by you."), (back,))
        case Superseded(latest):
            sentence = f"{latest.created_by} wrote version {latest.version} since. Only that one can be decided about."
            links = ((f"Version {latest.version}", contract_url(latest.id)), back)
            return Told("amber", sentence, ("Nothing was done by you.",), links)
        case OnePerson(authors):
            sentence = "You have written this yourself, in part or whole. Another person has to confirm it."
            return Told("amber", sentence, (f"Written by: {', '.join(authors)}.", "Nothing was done."), (back,))
        case NotReady(objections):
            return Told("red", "It cannot come into force yet. Nothing was done.", objections, (back,))
        case NoSuchContract():
            return Told("red", "There is no such version here. Nothing was done.")
        case unknown:
            assert_never(unknown)
