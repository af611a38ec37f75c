"""Fixtures for every test."""

from hypothesis import HealthCheck, settings

from tests import flushing  # noqa: F401 - it replaces Django's teardown
from tests.servers import admin_url, partner, rabbit, stack

__all__ = ["admin_url", "partner", "rabbit", "stack"]

# A machine that is busy with other tests is slow at everything; that says nothing about the properties.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")
