"""Sources that tests name in EXPORT_SOURCE, in this process or in a real worker."""

from __future__ import annotations

import os
import signal
import uuid
from pathlib import Path
from typing import ClassVar

import psycopg
from django.db import connections
from psycopg import sql

from exports.sql import STATEMENTS
from exports.worker.source import ContactsTable

POISON = "EXPORT_TEST_POISON"
"""Names the job whose build kills its process."""


class StoppedMeanwhile(ContactsTable):
    """Somebody clicks cancel on everything that runs, just when its contacts are asked for."""

    def select(self) -> sql.Composable:
        """Click, then answer."""
        with psycopg.connect(_in_this_database(os.environ["API_DATABASE_URL"])) as connection:
            for tenant_id, job_id, attempt_id, count in connection.execute(
                "SELECT tenant_id, id, attempt_id, attempt_count FROM export_jobs"
                " WHERE status = 'Running' AND stop_request_id IS NULL"
            ).fetchall():
                _click(connection, tenant_id, job_id, attempt_id, count)
        return super().select()


def _in_this_database(url: str) -> str:
    name = next(iter(connections.databases.values()))["NAME"]
    return psycopg.conninfo.make_conninfo(url, dbname=name)


def _click(
    connection: psycopg.Connection, tenant_id: uuid.UUID, job_id: uuid.UUID, attempt_id: uuid.UUID, count: int
) -> None:
    named = {"tenant_id": tenant_id, "job_id": job_id, "request_id": uuid.uuid4()}
    found = {"found_status": "Running", "found_attempt_id": attempt_id, "found_attempt_count": count}
    words = {"requested_by": "user:tests", "reason": None, "outcome": "StopRequested"}
    connection.execute(STATEMENTS["request_stop"].text, named)
    rest = {"found_delivery_authorized_at": None}
    connection.execute(STATEMENTS["record_cancellation"].text, {**named, **found, **words, **rest})


class Slow(ContactsTable):
    """Hands out one contact in three seconds: twenty of them make a build of a minute, by the server's clock."""

    def select(self) -> sql.Composable:
        """Return the same contacts, each after a pause that is its own."""
        slowed = "SELECT slow.* FROM ({}) AS slow, LATERAL (SELECT pg_sleep(3 + 0 * length(slow.external_id))) AS pause"
        return sql.SQL(slowed).format(super().select())


class Poisoned(ContactsTable):
    """Ends its whole process, as the kernel does when memory runs out, once it is asked for one job's contacts."""

    columns: ClassVar = ContactsTable.columns

    def select(self) -> sql.Composable:
        """Return a SELECT that, when it is turned into words for the poisonous job, is the last thing done."""
        return sql.Composed([_Deadly(), super().select()])


class _Deadly(sql.Composable):
    """Nothing at all, except in a process that has the poisonous job's file open."""

    def __init__(self) -> None:
        super().__init__("")

    def as_bytes(self, context: object = None) -> bytes:
        """Be the empty string, or the end."""
        del context
        if any(os.environ[POISON] in name for name in _open_files()):
            os.kill(os.getpid(), signal.SIGKILL)
        return b""


def _open_files() -> list[str]:
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(descriptor.readlink()))
        except OSError:  # it was closed meanwhile
            continue
    return found
