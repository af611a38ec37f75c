"""A partner that acknowledges, with real files in its directory, and a collector of a test's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports import crashpoints
from exports.secrets import new_key
from tests.acknowledgments.waiting import At

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture
def key(settings: Any) -> str:
    """Let this process reach partners on loopback; return the key their credentials are sealed under."""
    made = new_key()
    keys = (made, *settings.EXPORTS.credential_keys)
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=keys, allow_private_destinations=True)
    return made


@pytest.fixture
def at(partner: PartnerAccount, key: str) -> At:
    """Make destinations at the partner of this test."""
    return At(partner, key)
