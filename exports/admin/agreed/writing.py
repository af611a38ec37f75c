"""Write a contract: fill it in, read what changes against the version looked at, record it as a proposal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.propose_contract import Overtaken, Proposal, Proposed, propose_contract
from exports.admin.agreed.changes import changes
from exports.admin.agreed.finding import contract_url, destination_trail, destination_url, own_destination
from exports.admin.agreed.form import ContractForm
from exports.admin.clicks import minted
from exports.admin.forms import Step, sent, step_of
from exports.admin.frame import Told, page
from exports.contracts import Contract, Endpoint, Paths
from exports.models import Destination
from exports.probing import latest_finished
from exports.queries.agreed import Standing, latest_secret_id, standing_of
from exports.typed_json import to_plain

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

EMPTY = Contract(endpoint=Endpoint(), paths=Paths(directory="")).to_json()
"""What the form of a first version starts from."""
EFFECTS = (
    "It is kept for good as the next version, with your name and your reason.",
    "Nothing that runs changes: it comes into force when a second person confirms it.",
)


@require_http_methods(["GET", "HEAD", "POST"])
def contract_view(request: HttpRequest, destination_id: UUID) -> HttpResponseBase:
    """Show the form, the page to check it on, or lead back to the destination."""
    destination = own_destination(request, destination_id, "add_destinationcontract")
    standing = standing_of(destination)
    form = form_for(request, destination, standing)
    match step_of(request, form):
        case Step.FILL_IN:
            return _fill_in(request, destination, standing, form)
        case Step.CHECK if form.cleaned_data["looked_at"] != standing.latest_version:
            return _overtaken(request, destination, standing)
        case Step.CHECK:
            return _check(request, destination, standing, form)
        case Step.ACT:
            return _act(request, destination, form)
        case step:
            assert_never(step)


def form_for(request: HttpRequest, destination: Destination, standing: Standing, data: Any = None) -> ContractForm:
    """Return the form of the next version, as it starts or as it was sent."""
    base = standing.base.terms if standing.base else EMPTY
    sent_data = data if data is not None else sent(request)
    given = {
        "auth.secret_id": base["auth"]["secret_id"] or latest_secret_id(destination.id, Destination.objects.db),
        "publish.probed": _probed(destination, base, sent_data),
    }
    initial = {"contract_id": _click(request, destination, standing), "looked_at": standing.latest_version}
    return ContractForm(sent_data, base=base, given=given, initial=initial)


def _click(request: HttpRequest, destination: Destination, standing: Standing) -> UUID:
    return minted(request, "contract", f"{destination.id} {standing.latest_version}")


def _probed(destination: Destination, base: dict[str, Any], sent_data: Any) -> Any:
    """Return what a test saw of the server that these terms lead to; nothing where they lead elsewhere."""
    asked = base["endpoint"] if sent_data is None else _endpoint(sent_data)
    probe = latest_finished(destination.id, Destination.objects.db)
    if probe is not None and probe.probed is not None and _same_place(probe.contract.terms["endpoint"], asked):
        return to_plain(probe.probed)
    there = _same_place(base["endpoint"], asked)
    return base["publish"]["probed"] if there else EMPTY["publish"]["probed"]


def _endpoint(sent_data: Any) -> dict[str, Any]:
    return {name: sent_data.get(f"endpoint.{name}", "").strip() for name in ("kind", "host", "port")}


def _same_place(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(str(one.get(name, "")) == str(other.get(name, "")) for name in ("kind", "host", "port"))


def _title(destination: Destination) -> str:
    return f"Contract with {destination.name}"


def _fill_in(
    request: HttpRequest,
    destination: Destination,
    standing: Standing,
    form: ContractForm,
    told: Told | None = None,
    **shown: Any,
) -> HttpResponseBase:
    status = shown.pop("status", 400 if form.errors else 200)
    return page(
        request,
        "admin/exports/destination/contract.html",
        _title(destination),
        destination_trail(destination),
        status=status,
        form=form,
        told=told,
        base=standing.base,
        next_version=standing.latest_version + 1,
        back=destination_url(destination.id),
        needs_credential=not form.given["auth.secret_id"],
        credential=destination_url(destination.id, "credential"),
        **shown,
    )


def _check(request: HttpRequest, destination: Destination, standing: Standing, form: ContractForm) -> HttpResponseBase:
    assert form.contract is not None, "a valid form has read it"  # noqa: S101 - a bug
    found = changes(standing.base.terms if standing.base else None, form.contract.to_json())
    if not found:
        told = Told("grey", f"Nothing is changed against version {standing.latest_version}. Nothing was recorded.")
        return _fill_in(request, destination, standing, form, told)
    return page(
        request,
        "admin/exports/destination/check.html",
        _title(destination),
        destination_trail(destination),
        form=form,
        changes=found,
        base=standing.base,
        effects=EFFECTS,
        button="Propose it",
    )


def _act(request: HttpRequest, destination: Destination, form: ContractForm) -> HttpResponseBase:
    assert form.contract is not None, "a valid form has read it"  # noqa: S101 - a bug
    proposal = Proposal(
        contract_id=form.cleaned_data["contract_id"],
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        expected_version=form.cleaned_data["looked_at"],
        terms=form.contract,
        reason=form.cleaned_data["reason"],
        proposed_by=actor_name(request.user),
    )
    match propose_contract(proposal, using=Destination.objects.db):
        case Proposed(contract):
            return proposed(request, destination, contract.version)
        case Overtaken():
            return _overtaken(request, destination, standing_of(destination))
        case answer:
            assert_never(answer)


def proposed(request: HttpRequest, destination: Destination, version: int) -> HttpResponseBase:
    """Lead back to the destination, and say what is waited for."""
    messages.success(request, f"Version {version} is recorded. It comes into force when a second person confirms it.")
    return HttpResponseRedirect(destination_url(destination.id))


def _overtaken(request: HttpRequest, destination: Destination, standing: Standing) -> HttpResponseBase:
    """Say who wrote what meanwhile, and offer the form again as it was filled in, against what is there now."""
    latest = standing.latest
    assert latest is not None, "a version was written since"  # noqa: S101 - versions are never removed
    data = request.POST.copy()
    looked_at = data["looked_at"]
    data["looked_at"] = str(standing.latest_version)
    data["contract_id"] = str(_click(request, destination, standing))
    seen = next((each for each in standing.versions if str(each.version) == looked_at), None)
    told = Told(
        "amber",
        f"Nothing was recorded: {latest.created_by} wrote version {latest.version} while you looked at {looked_at}.",
        (f"Why: {latest.reason}", "What that changed stands below. Your answers are kept in the form."),
        ((f"Version {latest.version}", contract_url(latest.id)),),
    )
    form = form_for(request, destination, standing, data)
    theirs = changes(seen.terms if seen else None, latest.terms)
    return _fill_in(request, destination, standing, form, told, status=409, theirs=theirs)
