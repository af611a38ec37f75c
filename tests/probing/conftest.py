"""Fixtures for probes: the servers of the destination tests, and the world of the fault tests."""

from tests.destinations.conftest import faulty, loop, open_path
from tests.faults.fixtures import _no_session_outlives_its_test, empty_broker, spool, world

__all__ = ["_no_session_outlives_its_test", "empty_broker", "faulty", "loop", "open_path", "spool", "world"]
