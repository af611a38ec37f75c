"""The console is opened under the web process's own database role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.people import a_destination, a_person, a_tenant
from tests.routing import RoleClient

if TYPE_CHECKING:
    from exports.models import Destination, Tenant


@pytest.fixture(autouse=True)
def _web_process(settings: Any) -> None:
    settings.DATABASE_ROUTERS = ["tests.routing.RoleRouter"]
    settings.WHITENOISE_AUTOREFRESH = True
    settings.WHITENOISE_USE_FINDERS = True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.django_db(transaction=True, databases=["default", "api"]))


@pytest.fixture
def tenant() -> Tenant:
    return a_tenant()


@pytest.fixture
def destination(tenant: Tenant) -> Destination:
    return a_destination(tenant)


@pytest.fixture
def viewer(tenant: Tenant) -> RoleClient:
    """Return the browser of a signed-in export viewer of the tenant."""
    browser = RoleClient()
    browser.force_login(a_person(tenant, group="Export viewers"))
    return browser
