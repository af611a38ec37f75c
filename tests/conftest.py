"""Fixtures for every test."""

from tests.servers import admin_url, partner, stack

__all__ = ["admin_url", "partner", "stack"]
