"""Fixtures for every test."""

from tests import flushing  # noqa: F401 - it replaces Django's teardown
from tests.servers import admin_url, partner, stack

__all__ = ["admin_url", "partner", "stack"]
