"""Destinations with a sealed credential and a contract, as an administrator would set them up."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from exports.actions.confirm_contract import confirm_contract
from exports.actions.deciding import Decided, Verdict
from exports.actions.propose_contract import Proposal, Proposed, propose_contract
from exports.actions.request_probe import request_probe
from exports.conf import limits
from exports.contracts import (
    Auth,
    AuthMethod,
    Contract,
    Endpoint,
    HostKey,
    Paths,
    Payload,
    Permissions,
    Verification,
)
from exports.models import Destination
from exports.queries.agreed import standing_of
from exports.secrets import Secret, encrypt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exports.models import Tenant

_BY, _REASON = "user:demo", "set up for the demo"


def seed_destination(told: Mapping[str, Any], tenant: Tenant) -> str:
    """Create the destination, with a new contract if one is agreed and has changed; return its id."""
    destination, _ = Destination.objects.get_or_create(
        tenant=tenant, name=told["name"], defaults={"is_enabled": told["is_enabled"]}
    )
    active = destination.active_contract
    if not told["is_agreed"]:
        return str(destination.id)
    if active is None or active.terms != _terms(told, active.terms["auth"]["secret_id"]).to_json():
        _agree(destination, told)
    return str(destination.id)


def _agree(destination: Destination, told: Mapping[str, Any]) -> None:
    """Record the next version of the contract, with a secret of its own, and put it in force: one person, on record."""
    tenant_id, contract_id, secret_id = destination.tenant_id, uuid.uuid4(), uuid.uuid4()
    secret = Secret(password=told["password"], private_key=told["private_key"])
    proposal = Proposal(
        contract_id=contract_id,
        tenant_id=tenant_id,
        destination_id=destination.id,
        expected_version=standing_of(destination).latest_version,
        terms=_terms(told, str(secret_id)),
        reason=_REASON,
        proposed_by=_BY,
        sealed=(secret_id, encrypt(secret, limits().credential_keys)),
    )
    proposed = propose_contract(proposal)
    assert isinstance(proposed, Proposed), "nobody else sets the demo up"  # noqa: S101 - a bug
    verdict = Verdict(tenant_id=tenant_id, contract_id=contract_id, decided_by=_BY, reason=_REASON)
    # Before any worker runs there is nobody to try it; the probe asked for below does, and the first exports.
    decided = confirm_contract(verdict, allow_same_person=True, judge=lambda _contract, _using: [])
    assert isinstance(decided, Decided), "nobody else sets the demo up"  # noqa: S101 - the same
    # A worker takes this once it runs; what it finds stands on the destination's page.
    request_probe(destination.id, _BY)
    destination.refresh_from_db()


def _terms(told: Mapping[str, Any], secret_id: str) -> Contract:
    return Contract(
        endpoint=Endpoint(host=told["host"], port=told["port"]),
        paths=Paths(directory="/", scratch_directory="/scratch"),
        auth=Auth(user=told["user"], secret_id=secret_id, method=AuthMethod(told["method"])),
        host_keys=(HostKey(told["host_key"]),),
        permissions=Permissions(may_read=True),
        verification=Verification(read_back=True),
        payload=Payload(columns=tuple(told["columns"])),
    )
