"""Sessions of one's own under a role, and waits observed in the server instead of slept for."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connections

from exports.sql import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT_SECONDS = 10.0
"""A block that is due shows within milliseconds; ten seconds only keep a broken test from hanging."""


@contextmanager
def session(alias: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a connection of its own, in autocommit, as this alias's role."""
    settings = connections[alias].get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    with psycopg.connect(**{name: settings[name] for name in names}, autocommit=True) as connection:
        yield connection


def run(connection: psycopg.Connection[Any], name: str, **params: Any) -> list[tuple[Any, ...]]:
    """Run a registered statement on a session of one's own."""
    return connection.execute(STATEMENTS[name].text.encode(), params).fetchall()


class Background:
    """A call in a thread of its own; `result` waits for its end and raises what it raised."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._value: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            self._error = error
        finally:
            connections.close_all()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> Any:
        self._thread.join(WAIT_SECONDS)
        assert not self._thread.is_alive(), "the call did not end"
        if self._error is not None:
            raise self._error
        return self._value


def wait_until_blocked_by(holder: psycopg.Connection[Any]) -> int:
    """Wait until some session waits for this one, and return its process id."""
    pid = holder.info.backend_pid
    deadline = time.monotonic() + WAIT_SECONDS
    with session("default") as observer:
        while time.monotonic() < deadline:
            row = observer.execute(
                "SELECT pid FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid)) LIMIT 1", [pid]
            ).fetchone()
            if row is not None:
                return int(row[0])
    raise AssertionError("nobody waits for the session that should be waited for")
