"""The machines' tests use the world of the fault tests."""

from tests.faults.fixtures import _no_session_outlives_its_test, admin, count, empty_broker, pytest_configure, spool

__all__ = ["_no_session_outlives_its_test", "admin", "count", "empty_broker", "pytest_configure", "spool"]
