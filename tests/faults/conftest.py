"""Fixtures of the fault tests; whoever else breaks things on purpose imports the same."""

from tests.faults.fixtures import (
    _no_session_outlives_its_test,
    admin,
    audited,
    count,
    empty_broker,
    impatient,
    lossy,
    lossy_api,
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
    "audited",
    "count",
    "empty_broker",
    "impatient",
    "lossy",
    "lossy_api",
    "proxy",
    "pytest_configure",
    "short",
    "spool",
    "waking",
    "world",
]
