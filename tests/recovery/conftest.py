"""Fixtures over exports at any point of their life."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports import crashpoints
from exports.secrets import new_key
from tests.recovery.lives import Place, a_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture
def place() -> Place:
    """Give a destination whose partner nobody can reach."""
    return a_place()


@pytest.fixture
def reachable(partner: PartnerAccount, settings: Any) -> Place:
    """Give a destination at the partner of these tests."""
    key = new_key()
    keys = (key, *settings.EXPORTS.credential_keys)
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=keys, allow_private_destinations=True)
    return a_place(partner, sealed_under=key)
