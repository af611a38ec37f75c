"""Which server session a connection is, so that one whose answer was lost can be ended for certain.

The zombie statement: a connection is lost while its write waits for a lock; a re-read says "not applied";
later the write gets its lock and commits. So before a re-read is believed, the old session is ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.db import connections

from exports import waits

if TYPE_CHECKING:
    from datetime import datetime

FIRST_ANSWER_SECONDS = 5.0
"""For the question who the server is, asked before anything else: as long as a connection may take."""
IDENTITY_SQL = """
    SELECT host(inet_server_addr()), inet_server_port(), pg_postmaster_start_time(), pid, backend_start,
           (SELECT setting::float8 / 1000 FROM pg_settings WHERE name = 'statement_timeout')
    FROM pg_stat_activity WHERE pid = pg_backend_pid()"""
END_SQL = """
    SELECT pg_terminate_backend(pid, %(wait_ms)s) FROM pg_stat_activity
    WHERE pid = %(pid)s AND backend_start = %(backend_start)s"""
END_WAIT_MS = 2_000
"""Long enough for a backend to notice the signal on a loaded server, short against a lease."""


@dataclass(frozen=True, slots=True)
class Session:
    """One backend of one server incarnation."""

    address: str | None
    port: int | None
    server_started: datetime
    pid: int
    backend_start: datetime


_sessions: WeakKeyDictionary[Any, Session] = WeakKeyDictionary()


def remember(sender: object, connection: Any, **_: object) -> None:  # noqa: ARG001 - a signal receiver's signature
    """Record the session of a connection that was just made, and bound its waits (receiver of connection_created).

    A connection whose session is not known is closed before anything is sent on it: it could not be ended later.
    """
    raw = connection.connection
    try:
        waits.bound(raw, FIRST_ANSWER_SECONDS)
        with connection.cursor() as cursor:
            cursor.execute(IDENTITY_SQL)
            *identity, statement_seconds = cursor.fetchone()
        waits.bound(raw, statement_seconds)
        _sessions[connection] = Session(*identity)
    except BaseException:
        connection.close()
        raise


def session_of(using: str) -> Session | None:
    """Return the session this thread's connection has or had; None when it never connected."""
    return _sessions.get(connections[using])


def is_gone(old: Session | None, using: str) -> bool:
    """Make sure that an old session can commit nothing any more; False when that cannot be known.

    Runs on a new connection of this thread. A server restarted since has ended all its sessions; another
    server (failover, a pooler in between) says nothing about the old one.
    """
    if old is None:
        return True
    connection = connections[using]
    connection.ensure_connection()
    new = _sessions[connection]
    if (new.address, new.port) != (old.address, old.port):
        return False
    if new.server_started != old.server_started:
        return True
    parameters: dict[str, Any] = {"pid": old.pid, "backend_start": old.backend_start, "wait_ms": END_WAIT_MS}
    with connection.cursor() as cursor:
        cursor.execute(END_SQL, parameters)
        row = cursor.fetchone()
    return row is None or bool(row[0])
