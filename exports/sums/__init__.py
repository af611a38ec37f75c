"""Keeps the sums of each hour: one statement, run again and again by whoever takes the task.

The overview reads them; a day's events would be too many for a page. They say nothing that the events do not, and
are right again after any pause once they have been counted again.
"""

from __future__ import annotations

import logging
from pathlib import Path

from django.db import DatabaseError, InterfaceError, close_old_connections, connections, transaction

from exports.sql import body_of

logger = logging.getLogger(__name__)

STATEMENT = body_of(Path(__file__).with_name("count_hours.sql").read_text(encoding="utf-8"))
SECONDS = 60
"""Bound on one count: a minute's is quick, the first one of a busy day may read millions of events."""


def run() -> None:
    """Count once; while the database does not answer, the next run will."""
    try:
        count_hours()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("hours_not_counted", extra={"error": type(error).__name__})


def count_hours(using: str = "default") -> int:
    """Count what happened since the last hour that was counted; return how many sums grew. Database errors pass."""
    close_old_connections()
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{SECONDS}s'")
        cursor.execute(STATEMENT)
        return int(cursor.rowcount)
