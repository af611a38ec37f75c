"""The data set: two million exports with their events, built once and kept as a template."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg import sql

from exports import evidence as seen
from exports.sql import body_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

HISTORY = Path(__file__).parent / "history.sql"
TENANTS = 20
LARGE = (
    "export_jobs",
    "deliveries",
    "export_attempt_events",
    "cancellation_requests",
    "outbox",
    "creation_requests",
    "authorized_files",
    "export_rejections",
    "holds",
)


def fill(owner: Connection[Any], jobs: int, say: Callable[[str], None]) -> None:
    """Fill an empty, migrated database, as the owner; what slows a load down is taken away and put back."""
    values = {"jobs": jobs, "tenants": TENANTS, "queued": jobs // 40, **_details()}
    with _bare(owner, say):
        for statement in _statements():
            began = time.monotonic()
            count = owner.execute(statement, values).rowcount
            say(f"{count:>12,} rows, {time.monotonic() - began:6.1f} s  {statement.split('(')[0].splitlines()[-1]}")
    owner.execute(_DAY)


def _details() -> dict[str, str]:
    records: dict[str, seen.Evidence] = {
        "baseline": seen.Baseline(seen.Absent()),
        "sent": seen.PublishSent(seen.PublishForm.LINK, ".temporary", "contacts.csv"),
        "answered": seen.PublishAnswered(seen.Accepted()),
        "read_back": seen.ReadBack(seen.Present(100_000, "ab" * 32)),
        "concluded": seen.Outcome(seen.Conclusion.COMPLETED, seen.Proof.HASH),
        "late": seen.PartnerStatement(
            seen.Says.PUBLISHED, "ticket 7", "user:olga", datetime(2026, 1, 1, tzinfo=UTC), note="received"
        ),
    }
    return {name: seen.encode(record) for name, record in records.items()}


def _statements() -> list[str]:
    text = body_of(HISTORY.read_text(encoding="utf-8"))
    return [each.strip() for each in re.split(r";\n", text) if each.strip()]


_DAY = """
INSERT INTO hourly_sums (hour, tenant_id, what, count)
SELECT date_trunc('hour', j.created_at, 'UTC'), j.tenant_id, what, count(*)
FROM export_jobs j, unnest(ARRAY['Created', 'Completed', 'Failed', 'Stopped']) AS what
WHERE j.created_at > clock_timestamp() - interval '7 days'
GROUP BY 1, 2, 3
"""
"""Sums for the overview to read; what they say is not what is measured."""

_INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = ANY(%s::regclass[])
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
"""
_CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = ANY(%s::regclass[]) AND contype IN ('p', 'u', 'f')
ORDER BY contype = 'f'
"""


@contextmanager
def _bare(owner: Connection[Any], say: Callable[[str], None]) -> Iterator[None]:
    """Take indexes, keys and triggers away, and put them back as the catalogue had them."""
    indexes = owner.execute(_INDEXES, [list(LARGE)]).fetchall()
    constraints = owner.execute(_CONSTRAINTS, [list(LARGE)]).fetchall()
    for table, name, _ in reversed(constraints):
        owner.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.SQL(table), sql.Identifier(name)))
    for name, _ in indexes:
        owner.execute(sql.SQL("DROP INDEX {}").format(sql.SQL(name)))
    _triggers(owner, "DISABLE")
    yield
    _triggers(owner, "ENABLE")
    owner.execute("SET maintenance_work_mem = '512MB'")
    began = time.monotonic()
    for table, name, definition in constraints:
        add = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
        owner.execute(add.format(sql.SQL(table), sql.Identifier(name), sql.SQL(definition)))
    for _, definition in indexes:
        owner.execute(definition)
    say(f"{len(constraints) + len(indexes)} keys and indexes, {time.monotonic() - began:.1f} s")


def _triggers(owner: Connection[Any], verb: str) -> None:
    for table in ("export_jobs", "export_attempt_events"):
        owner.execute(sql.SQL("ALTER TABLE {} {} TRIGGER USER").format(sql.SQL(table), sql.SQL(verb)))
