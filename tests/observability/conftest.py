"""What is observed is a real export, real processes and a database that is lost, as in the fault tests."""

from tests.faults.fixtures import (
    _no_session_outlives_its_test,
    empty_broker,
    lossy,
    proxy,
    pytest_configure,
    spool,
    waking,
    world,
)
from tests.web import browser, web_process

__all__ = [
    "_no_session_outlives_its_test",
    "browser",
    "empty_broker",
    "lossy",
    "proxy",
    "pytest_configure",
    "spool",
    "waking",
    "web_process",
    "world",
]
