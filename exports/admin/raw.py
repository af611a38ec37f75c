"""The rows of one export as the tables hold them, for engineers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import Model

    from exports.queries.history import History

LONGEST = 65_536
"""Characters of one table's rows on the page; an export with more is a matter for the database's own tools."""


def raw_rows(history: History) -> list[tuple[str, int, str]]:
    """Return each table that has rows of this export: its name, how many, and the rows as JSON."""
    return [(table, len(rows), _json(rows)) for table, rows in _tables(history) if rows]


def _tables(history: History) -> Iterator[tuple[str, list[Any]]]:
    singles: list[Model | None] = [history.job, history.request, history.file, history.progress]
    lists: list[list[Any]] = [history.wake_ups, history.clicks, history.terms, history.rejections, history.events]
    for rows in [[single] for single in singles if single is not None] + lists:
        if rows:
            yield rows[0]._meta.db_table, rows  # noqa: SLF001 - documented by Django


def _json(rows: list[Model]) -> str:
    # Escaped beyond ASCII: a stranger's direction marks and control characters stay visible as what they are.
    text = json.dumps([_columns(row) for row in rows], indent=1, default=_plain)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _columns(row: Model) -> dict[str, Any]:
    names = [field.attname for field in row._meta.concrete_fields if field.column]  # noqa: SLF001 - documented by Django
    return {name: getattr(row, name) for name in names}


def _plain(value: object) -> str:
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else str(value)
