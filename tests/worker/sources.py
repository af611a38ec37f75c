"""Sources that a test points EXPORT_SOURCE at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from psycopg import sql

from exports.worker.source import TENANT, TableSource

if TYPE_CHECKING:
    from collections.abc import Mapping


class Endless:
    """More contacts than anybody can wait for, the first of them at once: there is nothing to sort by."""

    columns = ("external_id", "email")
    key = "external_id"

    def select(self) -> sql.Composable:
        numbers = "SELECT generate_series(1, 1000000000000) AS i"  # not in FROM, where it would be made whole first
        form = f"SELECT 1 AS external_id, {{tenant}}::text || '@' || i AS email FROM ({numbers}) AS many"
        return sql.SQL(form).format(tenant=TENANT)


class CompanyPeople(TableSource):
    """A company's own table, under its own names."""

    table = "crm.people"
    tenant_column = "company"
    key = "number"
    columns: ClassVar[Mapping[str, str]] = {"number": "id", "mail": "email_address", "born": "birthday"}


class EveryTenant:
    """A source that forgot the tenant."""

    columns = ("external_id",)
    key = "external_id"

    def select(self) -> sql.Composable:
        return sql.SQL("SELECT external_id FROM contacts")


class Telltale:
    """A query that fails with a contact's data in the database's words."""

    columns = ("external_id", "email")
    key = "external_id"

    def select(self) -> sql.Composable:
        form = "SELECT external_id, email::int AS email FROM contacts WHERE tenant_id = {tenant}"
        return sql.SQL(form).format(tenant=TENANT)
