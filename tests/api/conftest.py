"""The API is called under the web process's own database role."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import pytest
from django.conf import settings as django_settings

from tests.people import a_caller
from tests.web import browser, destination, tenant, web_process

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.people import Caller

__all__ = ["browser", "destination", "tenant", "web_process"]


LOSSY = "lossy_api"
"""The alias that reaches the database as exports_api through a proxy."""


def pytest_configure() -> None:
    """Declare the alias before the first test makes the database; where it leads, each proxy says."""
    if LOSSY not in django_settings.DATABASES:
        django_settings.DATABASES[LOSSY] = deepcopy(django_settings.DATABASES["api"])


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    """Return a client that may create and see the tenant's exports."""
    return a_caller(tenant)
