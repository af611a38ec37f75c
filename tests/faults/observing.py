"""Waiting for what can be observed: a condition is asked again and again, within a bound, never slept for."""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connections, transaction

from exports.models import ExportJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 20.0
"""Bound of every wait; what is waited for takes milliseconds on an idle machine."""
_PAUSE_SECONDS = 0.005


def until(holds: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Return as soon as the condition holds; fail when it does not within the bound."""
    stop_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < stop_at, f"it never came to hold; sessions: {other_sessions()}"
        time.sleep(_PAUSE_SECONDS)


@contextmanager
def held_row(job: ExportJob) -> Iterator[int]:
    """Hold the job's row as a cancellation does; yield the holder's session."""
    with transaction.atomic(using="api"), connections["api"].cursor() as cursor:
        ExportJob.objects.db_manager("api").lock_for_cancellation(tenant_id=job.tenant_id, job_id=job.id)
        cursor.execute("SELECT pg_backend_pid()")
        yield cursor.fetchone()[0]


@contextmanager
def held_tables() -> Iterator[int]:
    """Hold every row of an export and its history against any write; yield the holder's session."""
    # On a line of its own: a transaction that has looked at the sessions once sees no new ones.
    with closing(psycopg.connect(**connections["default"].get_connection_params())) as connection:
        connection.execute("LOCK TABLE export_jobs, export_attempt_events IN EXCLUSIVE MODE")
        yield connection.info.backend_pid


@contextmanager
def held_contacts() -> Iterator[psycopg.Connection[Any]]:
    """Hold the contacts as a reload does, so that every build waits; commit the connection to let them go on."""
    with closing(psycopg.connect(**connections["default"].get_connection_params())) as connection:
        connection.execute("LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE")
        yield connection


def blocked_by(holder: int) -> list[int]:
    """Return the sessions that wait for this session's locks."""
    return _pids("SELECT pid FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))", holder)


def wait_until_one_is_blocked_by(holder: int) -> int:
    """Wait until somebody waits for this session; return who."""
    until(lambda: bool(blocked_by(holder)))
    return blocked_by(holder)[0]


def is_alive(pid: int) -> bool:
    """Whether this session exists."""
    return bool(_pids("SELECT pid FROM pg_stat_activity WHERE pid = %s", pid))


def _pids(question: str, pid: int) -> list[int]:
    """Ask on the owner's connection of the calling thread; a thread that is not the test's own keeps none."""
    with connections["default"].cursor() as cursor:
        cursor.execute(question, [pid])
        return [row[0] for row in cursor.fetchall()]


def other_sessions() -> list[tuple[int, str, str]]:
    """Return every other session on this database: who it is and what it does or did."""
    with connections["default"].cursor() as cursor:
        cursor.execute("""
            SELECT pid, usename, query FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'""")
        return list(cursor.fetchall())
