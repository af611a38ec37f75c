"""A world, a proxy before the database, an alias that goes through it as the worker, a spool, an empty broker."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import redis
from django.conf import settings as django_settings
from django.db import connections

from exports import waits
from exports.audit.run import audit
from tests.faults.observing import other_sessions, until
from tests.faults.waking import Waking
from tests.faults.wire_proxy import WireProxy
from tests.faults.world import World, a_world
from tests.summary import TALLY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack

Count = Callable[[str], None]
"""Adds one to what the suite prints under these words in the end."""

LOSSY = "lossy"
"""The alias that reaches the database as exports_worker through the proxy."""

LOSSY_API = "lossy_api"
"""The same for exports_api: what a click, made in a web process, has to live through."""


def pytest_configure() -> None:
    """Declare the aliases before the first test makes the database; where they lead, each proxy says."""
    for alias, role in ((LOSSY, "worker"), (LOSSY_API, "api")):
        if alias not in django_settings.DATABASES:
            django_settings.DATABASES[alias] = deepcopy(django_settings.DATABASES[role])


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Count:
    """Count for the summary."""
    tally = request.config.stash.setdefault(TALLY, [])
    return lambda words: tally.append({words: 1})


@pytest.fixture
def proxy(stack: Stack) -> Iterator[WireProxy]:
    """Stand before the run's PostgreSQL."""
    with WireProxy("127.0.0.1", stack.postgres.port) as relay:
        yield relay


@pytest.fixture(autouse=True)
def _no_session_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Wait until no session of this test is left: the database is dropped in the end, who stays has forgotten it."""
    if request.node.get_closest_marker("django_db") is None:
        yield
        return
    request.getfixturevalue("transactional_db")
    earlier = _pids()
    yield
    for connection in connections.all(initialized_only=True):
        if connection.alias != "default":
            connection.close()
    until(lambda: not _pids() - earlier)


def _pids() -> set[int]:
    return {pid for pid, _, _ in other_sessions()}


@pytest.fixture
def lossy(proxy: WireProxy, transactional_db: None) -> Iterator[str]:  # noqa: ARG001 - the database exists first
    """Return the worker's alias through the proxy."""
    yield from _through(proxy, LOSSY)


@pytest.fixture
def lossy_api(proxy: WireProxy, transactional_db: None) -> Iterator[str]:  # noqa: ARG001 - the database exists first
    """Return the web process's alias through the proxy."""
    yield from _through(proxy, LOSSY_API)


def _through(proxy: WireProxy, alias: str) -> Iterator[str]:
    connections.databases[alias] |= {"HOST": "127.0.0.1", "PORT": proxy.port}
    yield alias
    connections[alias].close()


@pytest.fixture
def audited(transactional_db: None) -> Iterator[None]:  # noqa: ARG001 - asked before the tables are emptied
    """Ask every promise of the whole database once the test is over."""
    yield
    connections["default"].close()
    assert [str(finding) for finding in audit("default") if finding.rule.is_violation] == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the server end statements of the lossy alias, and the worker its waits, within a part of a second."""
    monkeypatch.setattr(waits, "ANSWER_SECONDS", 0.1)
    options = dict(connections.databases[LOSSY]["OPTIONS"])
    connections.databases[LOSSY]["OPTIONS"] |= {"options": "-c statement_timeout=300ms"}
    yield
    connections.databases[LOSSY]["OPTIONS"] = options


@pytest.fixture
def world(transactional_db: None, partner: PartnerAccount) -> World:  # noqa: ARG001 - the database exists first
    """Return a tenant with contacts and a partner."""
    return a_world(partner)


@pytest.fixture
def admin(stack: Stack) -> Iterator[psycopg.Connection[Any]]:
    """Return the administrator's connection, who may end anybody's session."""
    with psycopg.connect(stack.postgres.url(), autocommit=True) as connection:
        yield connection


@pytest.fixture
def waking(transactional_db: None) -> Iterator[Waking]:  # noqa: ARG001 - the database exists first
    """Run wake-ups in this process, and see to it that none of their sessions outlives the test."""
    running = Waking()
    yield running
    running.end()


@pytest.fixture
def spool(tmp_path: Path, settings: Any) -> Path:
    """Return a spool for child processes and for this one alike."""
    directory = tmp_path / "spool"
    directory.mkdir(mode=0o700)
    settings.EXPORTS = replace(settings.EXPORTS, spool_dir=directory)
    return directory


@pytest.fixture
def empty_broker(stack: Stack) -> Iterator[redis.Redis]:
    """Return a line to the run's broker, which holds no message when the test begins."""
    with redis.Redis.from_url(stack.broker.url()) as broker:
        broker.flushdb()
        yield broker


@pytest.fixture
def short(settings: Any) -> None:
    """Set timings that a test can wait for; the relations between them stay those of production."""
    settings.EXPORTS = replace(
        settings.EXPORTS, lease_seconds=1.5, renew_seconds=0.5, stop_poll_seconds=0.1, drain_seconds=5.0
    )
