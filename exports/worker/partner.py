"""A worker's way to a destination: the credential opened for this one use, and a session lent by the pool."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from exports.conf import limits
from exports.crashpoints import reach
from exports.destinations.addresses import AddressPolicy
from exports.destinations.pool import IDLE_SECONDS, Pools
from exports.destinations.protocol import (
    ConnectTrouble,
    CouldNotConnect,
    Passed,
    Session,
    Surroundings,
    open_session,
    unheard,
)
from exports.models import DestinationSecret
from exports.observability import counters
from exports.secrets import Secret, SecretError, decrypt

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from exports.contracts import Contract


WAIT_SECONDS = 30.0
"""How long an attempt waits for one of its contract's connections; then it is given back rather than burnt."""
_pools = Pools()


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A session lent to one attempt; `give_back` ends the loan, once."""

    session: Session
    give_back: Callable[[], None]


def connect(contract_id: UUID, contract: Contract, using: str = "default") -> Borrowed:
    """Borrow a session under this contract version; CouldNotConnect when nobody answered as agreed.

    Nothing of the export has left the process then. The watchdog ends whatever the attempt does with it at the
    contract's deadline.
    """
    reach("connect.before")
    loan = ExitStack()
    _close_idle_now_and_then()
    pool = _pools.pool(contract_id, contract.limits.max_connections)
    session = loan.enter_context(pool.session(lambda: open_unpooled(contract, using), WAIT_SECONDS))
    session.set_deadline(contract.limits.attempt_deadline_seconds)
    reach("connect.after")
    return Borrowed(session, loan.close)


def open_unpooled(contract: Contract, using: str = "default", passed: Passed = unheard) -> Session:
    """Open a session of one's own, for a look that keeps no connection; raises CouldNotConnect."""
    try:
        with counters.phase_seconds.labels("connect").time():
            return open_session(contract, _secret(contract, using), surroundings(), passed)
    except CouldNotConnect as trouble:
        counters.sftp_errors.labels("connect", trouble.kind).inc()
        raise


@cache
def _close_idle_now_and_then() -> threading.Thread:
    """Start, once a process, the thread that closes sessions nobody has used for a while."""

    def close() -> None:
        while True:
            time.sleep(IDLE_SECONDS / 2)
            _pools.close_idle()

    thread = threading.Thread(target=close, name="idle-sessions", daemon=True)
    thread.start()
    return thread


def surroundings() -> Surroundings:
    """Return what this process lets destinations touch."""
    addresses = AddressPolicy.allowing_private() if limits().allow_private_destinations else AddressPolicy()
    return Surroundings(addresses=addresses, share_roots=limits().share_roots)


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
