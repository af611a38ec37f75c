"""The broker tests break things with the means of the fault tests."""

from tests.faults.fixtures import (
    _no_session_outlives_its_test,
    admin,
    count,
    empty_broker,
    impatient,
    lossy,
    proxy,
    pytest_configure,
    short,
    spool,
    waking,
    world,
)

__all__ = [
    "_no_session_outlives_its_test",
    "admin",
    "count",
    "empty_broker",
    "impatient",
    "lossy",
    "proxy",
    "pytest_configure",
    "short",
    "spool",
    "waking",
    "world",
]
