"""A source of contacts that a build needs long for: what people stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql

from exports.worker.source import ContactsTable

if TYPE_CHECKING:
    from psycopg.sql import Composable


class SlowContacts(ContactsTable):
    """The built-in contacts, a second each."""

    def select(self) -> Composable:
        """Return the same rows, slowly."""
        return sql.SQL("SELECT made.* FROM ({}) made CROSS JOIN LATERAL pg_sleep(1 + 0 * length(made.email))").format(
            super().select()
        )
