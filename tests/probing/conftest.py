"""Fixtures for probes: the servers of the destination tests."""

from tests.destinations.conftest import faulty, loop, open_path

__all__ = ["faulty", "loop", "open_path"]
