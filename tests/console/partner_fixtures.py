"""Two administrators, a keyring, and a connection against which nothing speaks: what tests of partners start from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.secrets import new_key
from tests.console.pages import one_of
from tests.console.partners import GROUP

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.routing import RoleClient


@pytest.fixture
def keyring(settings: Any) -> list[str]:
    keys = [new_key()]
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=tuple(keys))
    return keys


@pytest.fixture
def ann(tenant: Tenant) -> RoleClient:
    return one_of(GROUP, tenant, username="ann")


@pytest.fixture
def bob(tenant: Tenant) -> RoleClient:
    return one_of(GROUP, tenant, username="bob")


@pytest.fixture(autouse=True)
def _nothing_speaks_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every version be confirmed as if tested: what a test has to show has tests of its own."""
    monkeypatch.setattr("exports.admin.agreed.deciding.activation_problems", lambda *_: [])
