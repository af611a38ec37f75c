"""Named sessions on real connections, and the one who sees who waits for whom.

A statement is sent without waiting for its answer, so that a session may block while the others go on; texts are
composed by the client, as the application's are, so that the server plans them the same way.
"""

from __future__ import annotations

import select
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus

from exports.states import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from psycopg.pq.abc import PGresult

ALIAS_OF = {
    Role.OWNER: "default",
    Role.API: "api",
    Role.WORKER: "worker",
    Role.DISPATCHER: "dispatcher",
    Role.ACKNOWLEDGER: "acknowledger",
    Role.RECONCILER: "reconciliation",
    Role.AUDITOR: "auditor",
}
"""Under which alias of the settings each login is found."""

ANSWER_SECONDS = 60.0
"""What waits for nobody answers in milliseconds; a machine that does much else may take its time."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement gave: rows of texts, or the database's refusal."""

    rows: list[tuple[str | None, ...]] = field(default_factory=list)
    sqlstate: str | None = None
    error: str = ""


class Session:
    """One login's connection."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._connection = psycopg.connect(**parameters, autocommit=True, cursor_factory=psycopg.ClientCursor)
        self._libpq = self._connection.pgconn
        self._last = Result()
        self.pid = self._libpq.backend_pid

    @property
    def has_failed(self) -> bool:
        """Whether an error has ended its transaction, so that only a rollback is left."""
        return self._libpq.transaction_status == TransactionStatus.INERROR

    def compose(self, text: str, parameters: Mapping[str, Any]) -> str:
        """Return a statement with its parameters in it."""
        with self._connection.cursor() as cursor:
            assert isinstance(cursor, psycopg.ClientCursor)
            return cursor.mogrify(text, parameters)

    def send(self, text: str) -> None:
        """Start a statement; the answer comes when it comes."""
        self._last = Result()
        self._libpq.send_query(text.encode())

    def receive(self) -> Result | None:
        """Return what has been answered, or None: it is still under way."""
        self._libpq.consume_input()
        while not self._libpq.is_busy():
            result = self._libpq.get_result()
            if result is None:
                return self._last
            self._last = _read(result)
        return None

    def finish(self, text: str) -> Result:
        """Run a statement that waits for nobody to its end."""
        self.send(text)
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while (result := self.receive()) is None:
            assert time.monotonic() < give_up_at, f"no answer to {text[:80]}"
            wait_for_any([self], ANSWER_SECONDS)
        return result

    def do(self, text: str) -> list[tuple[str | None, ...]]:
        """Run a statement that cannot fail, and return its last rows."""
        result = self.finish(text)
        assert result.sqlstate is None, f"{result.error} in {text[:2000]}"
        return result.rows

    def waits(self, pids: Iterable[int]) -> dict[int, set[int]]:
        """Return whom each of these sessions waits for, as the server sees it now."""
        asked = ", ".join(f"({pid}, pg_blocking_pids({pid}))" for pid in pids)
        return {
            int(pid or 0): {int(blocker) for blocker in (blockers or "").strip("{}").split(",") if blocker}
            for pid, blockers in self.do(f"VALUES {asked}")
        }

    def fileno(self) -> int:
        """Return the socket, for select."""
        return self._libpq.socket

    def close(self) -> None:
        """End the session."""
        self._connection.close()


def wait_for_any(sessions: Iterable[Session], seconds: float) -> None:
    """Wait until one of them is sent something, at most so long."""
    select.select(list(sessions), [], [], seconds)


def _read(result: PGresult) -> Result:
    if result.status in {ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE}:
        state = result.error_field(DiagnosticField.SQLSTATE) or b""
        return Result(sqlstate=state.decode(), error=result.get_error_message())
    rows = [
        tuple(_text(result.get_value(row, column)) for column in range(result.nfields)) for row in range(result.ntuples)
    ]
    return Result(rows)


def _text(value: bytes | None) -> str | None:
    return None if value is None else bytes(value).decode()
