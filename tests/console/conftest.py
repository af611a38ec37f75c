"""The console is opened under the web process's own database role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.console.pages import one_of
from tests.people import a_person
from tests.routing import RoleClient
from tests.web import browser, destination, tenant, web_process

if TYPE_CHECKING:
    from exports.models import Tenant

__all__ = ["browser", "destination", "tenant", "web_process"]


@pytest.fixture
def viewer(tenant: Tenant) -> RoleClient:
    """Return the browser of a signed-in export viewer of the tenant."""
    signed_in = RoleClient()
    signed_in.force_login(a_person(tenant, group="Export viewers"))
    return signed_in


@pytest.fixture
def operator(tenant: Tenant) -> RoleClient:
    """Return the browser of a signed-in export operator of the tenant, whose name is olga."""
    return one_of("Export operators", tenant, username="olga")
