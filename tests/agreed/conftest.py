"""The tenant and destination of these tests."""

from tests.web import destination, tenant

__all__ = ["destination", "tenant"]
