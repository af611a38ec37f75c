"""The connection of one build: a session of its own under the worker's role, which anybody can tell by its name."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import psycopg
from django.db import connections
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from exports.worker.stop import StopSignal

logger = logging.getLogger(__name__)

BuildConnection = psycopg.Connection[Any]

SETTINGS: Final = {
    # The role's bound is for single writes. A build reads millions of rows, but one that runs for hours holds a
    # snapshot, and with it vacuum, back for everybody.
    "statement_timeout": "4h",
    # A company's own load of its contact table holds it for minutes; a build may wait for that, but not for ever.
    "lock_timeout": "5min",
    # Whatever the server's defaults are, the same contacts make the same bytes.
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "iso_8601",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}
"""What holds for the build's own transaction, with the reason where a wait is bounded."""

CANCEL_SECONDS: Final = 1.0
"""Bound on one cancel request; a server on the same network answers within milliseconds."""
CANCEL_AGAIN_SECONDS: Final = 0.02
"""A request that came just before its statement began had no effect: it is sent again this soon."""
CUT_AFTER_SECONDS: Final = 2.0
"""A server that obeyed no request for this long cannot be reached: our end of the connection is cut."""


@contextmanager
def build_connection(using: str, attempt_id: UUID, stop: StopSignal) -> Iterator[BuildConnection]:
    """Open a read-only transaction whose statements end as soon as `stop` is set; it is never committed."""
    parameters = connections[using].get_connection_params()
    name = f"contact-exports build {attempt_id}"
    # Statements are merged with their parameters here: COPY and EXPLAIN take none from the protocol.
    parameters |= {"application_name": name, "cursor_factory": psycopg.ClientCursor, "autocommit": False}
    connection = psycopg.connect(**parameters)
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED  # each statement its own snapshot
    try:
        with _ended_by(stop, connection):
            _set_up(connection)
            yield connection
    finally:
        connection.close()


def _set_up(connection: BuildConnection) -> None:
    """Set everything for this transaction only, in one round trip."""
    calls = (sql.SQL("set_config({}, {}, true)").format(name, value) for name, value in SETTINGS.items())
    connection.execute(sql.SQL("SELECT {}").format(sql.SQL(", ").join(calls)))


@contextmanager
def _ended_by(stop: StopSignal, connection: BuildConnection) -> Iterator[None]:
    """Let a thread of its own end this connection's statement when `stop` is set.

    The signal's setter may hold other attempts' leases in its hands and must not wait for a server, so it only
    starts the thread.
    """
    over = threading.Event()
    helper = threading.Thread(target=_end_statement, args=(connection, over), name="build-canceller", daemon=True)
    take_back = stop.on_set(helper.start)
    try:
        yield
    finally:
        take_back()
        over.set()
        if helper.is_alive():
            helper.join(CANCEL_SECONDS + CUT_AFTER_SECONDS)


def _end_statement(connection: BuildConnection, over: threading.Event) -> None:
    """Cancel until the build is over; when that does nothing, cut the connection."""
    began = time.monotonic()
    while not over.is_set():
        if time.monotonic() - began > CUT_AFTER_SECONDS:
            _cut(connection)
            return
        with suppress(psycopg.Error):
            connection.cancel_safe(timeout=CANCEL_SECONDS)
        over.wait(CANCEL_AGAIN_SECONDS)


def _cut(connection: BuildConnection) -> None:
    """Shut our end of the socket; the thread that waits for the server gets an error at once."""
    logger.warning("build_connection_cut", extra={"server_process": connection.info.backend_pid})
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)
