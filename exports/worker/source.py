"""Where contacts come from: the built-in table, or a company's own tables through one small class.

A source only says which contacts a tenant has and what their columns are called. Which of them go into a file,
in what order of columns and in what dialect, is the contract's business and done around it (build_query).

A company with a table of its own writes, in a module of its own that EXPORT_SOURCE names:

    class People(TableSource):
        table = "crm.people"
        tenant_column = "company_id"
        key = "external_id"
        columns = {"external_id": "id", "email": "email_address", "given_name": "first_name"}

and grants exports_worker SELECT on it. Joins, consent flags and the like belong in a view, or in `select`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast

from django.utils.module_loading import import_string
from psycopg import sql

from exports.conf import limits
from exports.errors import ExportBuildException

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

TENANT: Final = sql.Placeholder("tenant_id")
"""Stands in a source's SELECT for the id of the tenant whose export is built, a uuid."""


class ContactSource(Protocol):
    """What EXPORT_SOURCE names: a class without constructor arguments that fulfils this.

    It runs on the worker's database connection, so exports_worker needs SELECT on whatever it reads.
    """

    @property
    def columns(self) -> Collection[str]:
        """Names of the columns that a file may have, in the order they have when the contract names none."""

    @property
    def key(self) -> str:
        """A column that is unique within a tenant: rows are ordered by it, so that a file can be repeated."""

    def select(self) -> sql.Composable:
        """Return a SELECT with every column and the key, under these names, for the tenant TENANT stands for.

        The tenant belongs in its WHERE: a SELECT that does not mention TENANT is refused. A literal percent
        sign is written twice.
        """


class TableSource:
    """A source that is one table or view; a subclass names it, and nothing more.

    `columns` maps names in the file to columns of the table; `table` may carry a schema ("crm.people").
    `tenant_column` holds the tenant's id of this project as a uuid.
    """

    table: ClassVar[str]
    tenant_column: ClassVar[str]
    key: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]

    def select(self) -> sql.Composable:
        """Return the table's columns under their names in the file, for one tenant."""
        aliases = (sql.SQL("{} AS {}").format(*map(sql.Identifier, pair)) for pair in self._pairs())
        return sql.SQL("SELECT {} FROM {} WHERE {} = {}").format(
            sql.SQL(", ").join(aliases),
            sql.Identifier(*self.table.split(".")),
            sql.Identifier(self.tenant_column),
            TENANT,
        )

    def _pairs(self) -> list[tuple[str, str]]:
        return [(column, name) for name, column in self.columns.items()]


class ContactsTable(TableSource):
    """The built-in source: the table `contacts`, which import_contacts fills."""

    table = "contacts"
    tenant_column = "tenant_id"
    key = "external_id"
    columns: ClassVar[Mapping[str, str]] = {
        name: name
        for name in ("external_id", "email", "given_name", "family_name", "phone", "company", "country", "notes")
    }


def configured_source() -> ContactSource:
    """Return the source that EXPORT_SOURCE names; ExportBuildException when there is none under that name."""
    path = limits().source
    try:
        return cast("ContactSource", import_string(path)())
    except ImportError as error:
        raise ExportBuildException(f"EXPORT_SOURCE names {path}, which cannot be imported.") from error
