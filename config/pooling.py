"""Whether a pooler stands before the database that lends one session to many clients in turn.

After a lost answer a process ends its old session by name before it believes the row; statements are prepared once
a session; waits are bounded by a session's settings. None of that holds where the next statement may run in
another session, or somebody else's statement in ours. PgBouncer calls it pool_mode=transaction or statement.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connections

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDS_SESSION = frozenset({"web", "worker", "acknowledger"})
"""Processes that must reach the database directly or through a pooler in session mode.

The dispatcher and the auditor use nothing of a session beyond one transaction.
"""
LOOKS = 5
"""A pooler may by chance have given each of two clients the same session twice in a row."""
WORDS = (
    "The database is reached through a pooler that lends its sessions (PgBouncer: pool_mode=transaction or statement);"
    " connect directly, or through one in session mode."
)


def problems(process: str) -> Iterator[str]:
    """Yield what is wrong with this process's ways to the database; database errors pass through."""
    if process in NEEDS_SESSION and any(lends_sessions(alias) for alias in ("default", "reconciliation")):
        yield WORDS


def lends_sessions(alias: str) -> bool:
    """Whether two connections were seen in one session, or one connection in two.

    While the first connection is idle the second begins a transaction: where sessions are lent, either it is given
    the first one's, or the first one's next statement finds its own taken.
    """
    if alias not in connections.databases:
        return False
    parameters: dict[str, Any] = connections[alias].get_connection_params()
    with (
        closing(psycopg.connect(**parameters, autocommit=True)) as one,
        closing(psycopg.connect(**parameters, autocommit=True)) as other,
    ):
        try:
            return any(_is_lent(one, other) for _ in range(LOOKS))
        except psycopg.errors.ProtocolViolation:  # no transaction is let through: each statement has a session
            return True


def _is_lent(one: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    mine = _session(one)
    with other.transaction():
        theirs = _session(other)
        again = _session(one)
    return theirs == mine or again != mine


def _session(connection: psycopg.Connection[Any]) -> int:
    ((pid,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
    return int(pid)
