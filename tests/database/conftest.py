"""A superuser's sandbox and real logins on the test database; no test here uses Django's own connections."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.database.guarded import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Login = Callable[[str], psycopg.Connection[Any]]

ALIAS = {
    "exports_owner": "default",
    "exports_api": "api",
    "exports_worker": "worker",
    "exports_dispatcher": "dispatcher",
    "exports_acknowledger": "acknowledger",
    "exports_reconciler": "reconciliation",
    "exports_auditor": "auditor",
}


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ask for the test database in every test of this directory; the hook is given those of all others too."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.django_db)


@pytest.fixture(scope="session")
def database(request: pytest.FixtureRequest, admin_url: str) -> str:
    """Return the superuser's login to the migrated test database."""
    request.getfixturevalue("django_db_setup")
    return make_conninfo(admin_url, dbname=connections["default"].settings_dict["NAME"])


@pytest.fixture(scope="session")
def _superuser(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database) as connection:
        yield connection


@pytest.fixture
def sandbox(_superuser: psycopg.Connection[Any]) -> Iterator[Sandbox]:
    """Return a transaction that is rolled back when the test ends."""
    with _superuser.transaction(force_rollback=True):
        yield Sandbox(_superuser)


@pytest.fixture
def login(database: str) -> Iterator[Login]:
    """Return a function that opens a real session of a role in `database`, one more at each call."""
    with ExitStack() as opened:
        yield lambda role: opened.enter_context(_session(role, database))


@pytest.fixture(scope="session")
def resident(database: str) -> Iterator[Login]:
    """Return a function that gives the one session of a role that all tests share; nothing is left in it."""
    with ExitStack() as opened:
        sessions = {role: opened.enter_context(_session(role, database)) for role in ALIAS}
        sessions["exports_auditor"].execute("SET default_transaction_read_only = off")
        yield lambda role: sessions[role]


def _session(role: str, database: str) -> psycopg.Connection[Any]:
    name = conninfo_to_dict(database)["dbname"]
    return psycopg.connect(**_address(role), dbname=name, autocommit=True)


def _address(role: str) -> dict[str, Any]:
    known = connections[ALIAS[role]].settings_dict
    return {
        "host": known["HOST"],
        "port": known["PORT"],
        "user": known["USER"],
        "password": known["PASSWORD"],
    }


@pytest.fixture
def clean(login: Login) -> Iterator[None]:
    """Empty the tables that a test with real commits wrote to, as only the owner can."""
    yield
    login("exports_owner").execute(
        "TRUNCATE export_jobs, deliveries, export_attempt_events, cancellation_requests, outbox, creation_requests"
    )
