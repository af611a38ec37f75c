"""How opening a session fails, checked for what must hold of every failure."""

import time
from pathlib import Path

import pytest

from exports.contracts import Contract
from exports.destinations.protocol import CouldNotConnect
from exports.secrets import Secret
from tests.destinations.partners import Partner


def refused(partner: Partner, contract: Contract | None = None, secret: Secret | None = None) -> CouldNotConnect:
    """Return how opening a session fails; it must fail within its bound and leak nothing of the secret."""
    began = time.monotonic()
    chosen = contract or partner.contract()
    with pytest.raises(CouldNotConnect) as caught:
        partner.open(chosen, secret)
    assert time.monotonic() - began < chosen.limits.connect_timeout_seconds + 5
    for part in ("password", "private_key", "passphrase"):
        kept = getattr(secret or partner.secret, part)
        assert not kept or kept not in str(caught.value)
    return caught.value


def fresh(open_path: Path) -> Path:
    """Return a path that does not exist yet and that other accounts can enter."""
    return open_path / f"connecting-{time.monotonic_ns()}"
