"""The lost-response rules around a boundary write (I6): ask the row, never the exception.

Four things can come of a write: its answer; a definite "not now" (lock timeout, deadlock, …: not applied, try
again within a bound); a real database error (a bug or a constraint: raised); or no answer, when state and
ownership are read together on a new connection, after the old session is surely gone.
"""

from __future__ import annotations

import logging
import random
import time
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeVar

import psycopg
from django.db import DatabaseError, InterfaceError, connections

from exports import sessions

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")
logger = logging.getLogger(__name__)

NOT_NOW = frozenset({"55P03", "57014", "40001", "40P01"})
"""lock_not_available, query_canceled, serialization_failure, deadlock_detected: definitely not applied."""
REREAD_SECONDS = 5.0
"""How long the row is asked for; a worker must not hang here while the database is unreachable."""
PAUSE_SECONDS = 0.1
"""Between tries: far below any lease, far above what a server needs to refuse again."""


class Doubt(Enum):
    """What an exception says about whether the write was applied."""

    NOT_NOW = auto()
    UNKNOWN = auto()
    REAL = auto()


def doubt_of(error: Exception, using: str) -> Doubt:
    """Judge a failed write: severity ERROR on an open connection is an answer, everything else is not."""
    cause = error.__cause__
    raw = connections[using].connection
    answered = isinstance(cause, psycopg.Error) and cause.diag.severity_nonlocalized == "ERROR"
    if not answered or raw is None or raw.closed or raw.broken:
        return Doubt.UNKNOWN
    return Doubt.NOT_NOW if cause.sqlstate in NOT_NOW else Doubt.REAL  # type: ignore[union-attr] # answered


def settle(
    write: Callable[[], Answer],
    reread: Callable[[], Answer],
    *,
    unknown: Answer,
    give_up_at: float,
    using: str = "default",
) -> Answer:
    """Run a boundary write and return what is known of it.

    `reread` reads state and ownership and returns the answer the row gives; `unknown` is returned when neither
    the write nor the row answered. `give_up_at` (monotonic seconds) bounds the tries after a definite refusal.
    """
    while True:
        try:
            return write()
        except (DatabaseError, InterfaceError) as error:
            doubt = doubt_of(error, using)
            if doubt is Doubt.REAL:
                raise
            logger.warning("write_without_answer", extra={"doubt": doubt.name, "error": type(error).__name__})
            if doubt is Doubt.UNKNOWN:
                return ask_the_row(reread, unknown=unknown, using=using)
            if time.monotonic() >= give_up_at:
                return ask_the_row(reread, unknown=unknown, using=using)
        time.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret


def ask(question: Callable[[], Answer], *, give_up_at: float, using: str = "default") -> Answer:
    """Return the answer to a question, asked again on a new connection while the old one turns out lost.

    For what may be asked twice. A line that lay idle through a long build may be gone without a trace. The last
    loss passes through once `give_up_at` (monotonic seconds) is over.
    """
    while True:
        try:
            return question()
        except (DatabaseError, InterfaceError) as error:
            if doubt_of(error, using) is Doubt.REAL or time.monotonic() >= give_up_at:
                raise
            logger.warning("question_without_answer", extra={"error": type(error).__name__})
            connections[using].close()
        time.sleep(PAUSE_SECONDS)


def ask_the_row(reread: Callable[[], Answer], *, unknown: Answer, using: str) -> Answer:
    """End the old session, then read state and ownership together; `unknown` when that too got no answer."""
    old = sessions.session_of(using)
    connections[using].close()
    stop_at = time.monotonic() + REREAD_SECONDS
    while time.monotonic() < stop_at:
        try:
            if sessions.is_gone(old, using):
                return reread()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("row_not_asked_yet", extra={"error": type(error).__name__})
            connections[using].close()
        time.sleep(PAUSE_SECONDS)
    return unknown
