"""Destinations with a sealed credential and a contract, as an administrator would set them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from exports.models import Destination, DestinationContract, DestinationSecret
from exports.secrets import Secret, encrypt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from exports.models import Tenant

_BY = "user:demo"


def seed_destination(told: Mapping[str, Any], tenant: Tenant) -> str:
    """Create the destination, with a new contract if one is agreed and has changed; return its id."""
    destination, _ = Destination.objects.get_or_create(
        tenant=tenant, name=told["name"], defaults={"is_enabled": told["is_enabled"]}
    )
    active = destination.active_contract
    if not told["is_agreed"]:
        return str(destination.id)
    if active is None or active.terms != _terms(told, active.terms["auth"]["secret_id"]):
        _agree(destination, told)
    return str(destination.id)


def _agree(destination: Destination, told: Mapping[str, Any]) -> None:
    """Record the next version of the contract, with a secret of its own, and make it the active one."""
    version = DestinationContract.objects.filter(destination=destination).count() + 1
    destination.active_contract = DestinationContract.objects.create(
        destination=destination,
        version=version,
        terms=_terms(told, str(_seal(destination, told))),
        reason="set up for the demo",
        created_by=_BY,
    )
    destination.save(update_fields=["active_contract"])


def _seal(destination: Destination, told: Mapping[str, Any]) -> UUID:
    secret = Secret(password=told["password"], private_key=told["private_key"])
    sealed = DestinationSecret(
        destination=destination, ciphertext=encrypt(secret, limits().credential_keys), created_by=_BY
    )
    # Inserted without reading back: the console's role may write a credential and never read it.
    DestinationSecret.objects.bulk_create([sealed])
    return sealed.id


def _terms(told: Mapping[str, Any], secret_id: str) -> dict[str, Any]:
    return Contract(
        endpoint=Endpoint(host=told["host"], port=told["port"]),
        paths=Paths(directory="/"),
        auth=Auth(user=told["user"], secret_id=secret_id, method=AuthMethod(told["method"])),
        host_keys=(HostKey(told["host_key"]),),
        permissions=Permissions(may_read=True),
        verification=Verification(read_back=True),
        payload=Payload(columns=tuple(told["columns"])),
    ).to_json()
