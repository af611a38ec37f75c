"""The one query of a build: the source's contacts, shaped as the contract's payload says.

Columns, their order, filters, spreadsheet safety and the CSV dialect are PostgreSQL's work. Names are checked
against the source's own columns before they become identifiers; values are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from psycopg import sql

from exports.contracts import FilterOperator
from exports.errors import ExportBuildException

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from exports.contracts import Filter, Payload
    from exports.worker.source import ContactSource

FORMULA_STARTS: Final = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""A cell that begins with one of these is a formula to a spreadsheet; the last four are the full-width = + - @."""

_MOST_NAME_BYTES: Final = 63  # PostgreSQL cuts a longer column name, and the header would not say what was agreed


@dataclass(frozen=True, slots=True)
class BuildQuery:
    """A SELECT, the options it is copied with, and the parameters of both."""

    select: sql.Composed
    options: sql.Composed
    parameters: Mapping[str, object]

    @property
    def explain(self) -> sql.Composed:
        """The plan of the SELECT: asking for it takes every lock the SELECT needs."""
        return sql.SQL("EXPLAIN {}").format(self.select)

    @property
    def copy(self) -> sql.Composed:
        """The SELECT as a stream of CSV lines."""
        return sql.SQL("COPY ({}) TO STDOUT ({})").format(self.select, self.options)


def build_query(source: ContactSource, tenant_id: UUID, payload: Payload) -> BuildQuery:
    """Compose the query; ExportBuildException names columns the source does not have."""
    columns = payload.columns or tuple(source.columns)
    _refuse_unknown(source, [*columns, *(each.column for each in payload.filters)])
    rows = source.select()
    if "%(tenant_id)s" not in rows.as_string():
        raise ExportBuildException("The contact source does not restrict its contacts to one tenant.")
    select = sql.SQL("SELECT {cells} FROM ({rows}) AS contact WHERE {wanted} ORDER BY {key}").format(
        cells=sql.SQL(", ").join(_cell(column, payload) for column in columns),
        rows=rows,
        wanted=sql.SQL(" AND ").join([sql.SQL("true"), *_conditions(payload)]),
        key=_column(source.key),
    )
    values = {f"value_{number}": each.value for number, each in enumerate(payload.filters)}
    return BuildQuery(select, _options(payload), {"tenant_id": tenant_id, **values})


def _refuse_unknown(source: ContactSource, names: list[str]) -> None:
    known = set(source.columns)
    unknown = sorted({name for name in names if name not in known or len(name.encode()) > _MOST_NAME_BYTES})
    if unknown:
        raise ExportBuildException(
            f"The contract asks for columns the contact source does not have: {', '.join(unknown)}."
            f" It has: {', '.join(source.columns)}."
        )


def _column(name: str) -> sql.Composable:
    return sql.Identifier("contact", name)


def _cell(name: str, payload: Payload) -> sql.Composable:
    """Return a cell as it is (lossless), or with an apostrophe before what a spreadsheet would compute."""
    if not payload.spreadsheet_safe:
        return _column(name)
    form = sql.SQL("CASE WHEN left({c}::text, 1) = ANY ({starts}::text[]) THEN '''' || {c}::text ELSE {c}::text END")
    cell = form.format(c=_column(name), starts=sql.Literal(list(FORMULA_STARTS)))
    return sql.SQL("{} AS {}").format(cell, sql.Identifier(name))


def _conditions(payload: Payload) -> Iterator[sql.Composable]:
    for number, each in enumerate(payload.filters):
        yield _condition(each).format(c=_column(each.column), value=sql.Placeholder(f"value_{number}"))


def _condition(wanted: Filter) -> sql.SQL:
    match wanted.operator:
        case FilterOperator.EQUALS:
            return sql.SQL("{c}::text = {value}")
        case FilterOperator.DIFFERS:
            return sql.SQL("{c}::text IS DISTINCT FROM {value}")
        case FilterOperator.PRESENT:
            return sql.SQL("{c}::text <> ''")
        case FilterOperator.ABSENT:
            return sql.SQL("coalesce({c}::text, '') = ''")
        case never:
            assert_never(never)


def _options(payload: Payload) -> sql.Composed:
    # Where people open the file every cell is quoted: one that holds another dialect's delimiter stays one cell.
    quoting = sql.SQL(", FORCE_QUOTE *" if payload.spreadsheet_safe else "")
    form = sql.SQL("FORMAT csv, HEADER {}, DELIMITER {}, ENCODING 'UTF8'{}")
    return form.format(sql.Literal(payload.header), sql.Literal(payload.delimiter), quoting)
