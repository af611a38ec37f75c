"""Fixtures of the tests that talk to the web process: it serves under its own database role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.people import a_destination, a_tenant
from tests.routing import RoleClient

if TYPE_CHECKING:
    from exports.models import Destination, Tenant


@pytest.fixture(autouse=True)
def web_process(settings: Any) -> None:
    """Route requests to the role's alias, under the policy; find static files where they are written."""
    settings.DATABASE_ROUTERS = ["tests.routing.RoleRouter"]
    first, *others = settings.MIDDLEWARE
    policy, away = "exports.middleware.ContentSecurityPolicy", "exports.middleware.DatabaseAway"
    settings.MIDDLEWARE = list(dict.fromkeys((first, policy, *others, away)))
    settings.WHITENOISE_AUTOREFRESH = True
    settings.WHITENOISE_USE_FINDERS = True


@pytest.fixture
def browser() -> RoleClient:
    """Return somebody who is not signed in."""
    return RoleClient()


@pytest.fixture
def tenant() -> Tenant:
    return a_tenant()


@pytest.fixture
def destination(tenant: Tenant) -> Destination:
    return a_destination(tenant)
