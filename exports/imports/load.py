"""Contacts into the table, in one transaction: new ones inserted, known ones updated under the CRM's own key.

Two records with one key are refused. Within a batch that is seen here; across batches the database tells, by
the row's own transaction id: a row this very transaction has written stands in the file twice. So the memory
stays flat, and no right to make temporary tables is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db import connections
from psycopg import sql

from exports.imports.columns import COLUMNS, KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from exports.imports.problems import Problems
    from exports.imports.records import Record

BATCH: Final = 1_000
"""Rows a statement: far below the statement timeout of the console's role, and no longer dominated by round trips."""


TAKE_TURNS: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
"""Held until the transaction ends; waiting for it is bounded by the role's lock_timeout."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """How many contacts were new, and how many were known and now say what the file says."""

    new: int = 0
    updated: int = 0


class Loader:
    """Writes records of one tenant; must run inside a transaction without savepoints."""

    def __init__(self, tenant_id: UUID, columns: tuple[str, ...], problems: Problems, using: str) -> None:
        self._tenant_id = tenant_id
        self._columns = columns
        self._problems = problems
        self._using = using
        self._statement = _upsert(columns)

    def load(self, records: Iterable[Record]) -> Loaded:
        """Write all records; those whose key came before become problems, and the caller rolls back.

        One import of a tenant at a time: two that meet the same contacts in another order would deadlock.
        """
        with connections[self._using].cursor() as cursor:
            cursor.execute(TAKE_TURNS, [f"exports.imports:{self._tenant_id}"])
        new = updated = 0
        for batch in _batches(records):
            written = self._write(self._distinct(batch))
            new += sum(written.values())
            updated += len(written) - sum(written.values())
        return Loaded(new, updated)

    def _distinct(self, batch: list[Record]) -> dict[str, Record]:
        found: dict[str, Record] = {}
        for record in batch:
            first = found.setdefault(record.key, record)
            if first is not record:
                self._problems.add(record.line, f"has the {KEY} of line {first.line}")
        return found

    def _write(self, batch: dict[str, Record]) -> dict[str, bool]:
        """Write a batch and return which keys were new (True) or known; the others this file had before."""
        values: dict[str, Any] = {
            column: [record.values[column] for record in batch.values()] for column in self._columns
        }
        with connections[self._using].cursor() as cursor:
            cursor.execute(self._statement, {"tenant_id": self._tenant_id, **values})
            written = dict(cursor.fetchall())
        for key in batch.keys() - written.keys():
            self._problems.add(batch[key].line, f"has an {KEY} that stands further up in the file")
        return written


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _upsert(columns: tuple[str, ...]) -> sql.Composed:
    """Compose the statement for these columns of a contact; those the file lacks stay, or begin empty."""
    given = [sql.Identifier(column) for column in columns]
    missing = [column for column in COLUMNS if column not in columns]
    updates = [sql.SQL("{c} = excluded.{c}").format(c=sql.Identifier(column)) for column in columns if column != KEY]
    return sql.SQL(
        "INSERT INTO contacts AS known (tenant_id, {inserted}) SELECT %(tenant_id)s, {values}"
        " FROM unnest({arrays}) AS given ({given})"
        " ON CONFLICT (tenant_id, {key}) DO UPDATE SET {updates}"
        " WHERE known.xmin <> pg_current_xact_id()::xid RETURNING {key}, xmax = 0"
    ).format(
        inserted=_listed([*given, *map(sql.Identifier, missing)]),
        values=_listed([*given, *(sql.SQL("''") for _ in missing)]),
        arrays=_listed(sql.SQL("{}::text[]").format(sql.Placeholder(column)) for column in columns),
        given=_listed(given),
        key=sql.Identifier(KEY),
        updates=_listed(updates or [sql.SQL("email = known.email")]),  # a known row has to be written, to be told
    )


def _listed(parts: Iterable[sql.Composable]) -> sql.Composed:
    return sql.SQL(", ").join(parts)
