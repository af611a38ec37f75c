"""No statement is waited for without a bound, not even one whose answer a network swallows.

The server ends its own statements, and keepalives find a peer that is gone; neither helps when something in
between keeps the connection and drops the answer. So each wait ends a little after the server must have answered,
and the connection with it: what became of the statement is then asked of the row (I6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

import psycopg
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from psycopg.abc import PQGen

ANSWER_SECONDS = 5.0
"""What the way there and back may add to a statement's own time before its answer counts as lost."""
LOOK_SECONDS = 0.1
"""How often a wait looks at signals and the clock; the driver's own default."""


def bound(raw: psycopg.Connection[Any], statement_seconds: float) -> None:
    """Let each wait of this connection end `ANSWER_SECONDS` after the server's own bound; 0: it has none."""
    seconds = statement_seconds + ANSWER_SECONDS if statement_seconds else None
    own = ref(raw)  # a method kept on the connection itself must not keep it alive

    def wait(gen: PQGen[Any], interval: float = LOOK_SECONDS, timeout: float | None = None) -> Any:
        connection = own()
        assert connection is not None, "somebody waits on it"  # noqa: S101 - only a bug
        try:
            return type(connection).wait(connection, gen, interval, seconds if timeout is None else timeout)
        except psycopg.OperationalError:
            if connection.pgconn.transaction_status == TransactionStatus.ACTIVE:
                connection.close()  # the statement still runs: nothing else may be asked on this line
            raise

    raw.wait = wait  # type: ignore[method-assign] # the driver has no setting for it
