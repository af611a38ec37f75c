"""A worker's way to a destination: the credential opened for this one use, and a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.conf import limits
from exports.crashpoints import reach
from exports.destinations.addresses import AddressPolicy
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Session, Surroundings, open_session
from exports.models import DestinationSecret
from exports.secrets import Secret, SecretError, decrypt

if TYPE_CHECKING:
    from exports.contracts import Contract


def connect(contract: Contract, using: str = "default") -> Session:
    """Open a session under this contract; CouldNotConnect when nobody answered as agreed: nothing was sent."""
    reach("connect.before")
    session = open_session(contract, _secret(contract, using), surroundings())
    reach("connect.after")
    return session


def surroundings() -> Surroundings:
    """Return what this process lets destinations touch."""
    addresses = AddressPolicy.allowing_private() if limits().allow_private_destinations else AddressPolicy()
    return Surroundings(addresses=addresses)


def _secret(contract: Contract, using: str) -> Secret:
    """Decrypt the credential the contract names; a destination without sign-in has none."""
    if not contract.auth.secret_id:
        return Secret()
    row = DestinationSecret.objects.using(using).filter(id=contract.auth.secret_id).first()
    if row is None:
        raise CouldNotConnect(ConnectTrouble.SECRET_UNUSABLE, "The destination's stored credential does not exist.")
    try:
        return decrypt(bytes(row.ciphertext), limits().credential_keys)
    except SecretError as error:
        raise CouldNotConnect(ConnectTrouble.SECRET_UNUSABLE, str(error)) from error
