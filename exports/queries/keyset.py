"""Pages by position instead of number: constant cost at any depth, and nothing is ever counted.

A page is asked for by a cursor that says where the last one ended. Rows that arrive meanwhile never shift a
page, so nothing is shown twice or skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Field, Q

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet


class BadCursor(ValueError):  # noqa: N818 - the words a client reads
    """The cursor is not one this server handed out for this list."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the list's order, and the cursors of its neighbours; None where there is none."""

    rows: list[Any]
    following: str | None
    preceding: str | None


@dataclass(frozen=True, slots=True)
class _Position:
    backwards: bool
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Keyset:
    """An order by one or two columns, all in the same direction, the last of them unique."""

    columns: tuple[str, ...]
    descending: bool = True

    def ordering(self, *, backwards: bool = False) -> tuple[str, ...]:
        """Return the `order_by` of the list, or of the list read from its other end."""
        return tuple(f"-{name}" if self.descending is not backwards else name for name in self.columns)

    def page(self, rows: QuerySet[Any], size: int, cursor: str | None = None) -> Page:
        """Return up to `size` rows at the cursor; raise BadCursor when it is not one of this list."""
        here = _read(rows.model, self.columns, cursor) if cursor else None
        if here is None:
            found = list(rows.order_by(*self.ordering())[: size + 1])
            return self._page(found[:size], after=len(found) > size, before=False)
        beyond = rows.filter(self._beyond(here)).order_by(*self.ordering(backwards=here.backwards))
        found = list(beyond[: size + 1])
        more, kept = len(found) > size, found[:size]
        if here.backwards:
            return self._page(kept[::-1], after=True, before=more)
        return self._page(kept, after=more, before=True)

    def _page(self, rows: list[Any], *, after: bool, before: bool) -> Page:
        return Page(
            rows=rows,
            following=self._cursor(rows[-1], backwards=False) if rows and after else None,
            preceding=self._cursor(rows[0], backwards=True) if rows and before else None,
        )

    def _beyond(self, here: _Position) -> Q:
        """Keep the rows strictly past a position, led by a plain range that an index can start from."""
        comparison = "lt" if self.descending is not here.backwards else "gt"
        first, *rest = zip(self.columns, here.values, strict=True)
        if not rest:
            return Q(**{f"{first[0]}__{comparison}": first[1]})
        tie = Q(**{f"{first[0]}__{comparison}": first[1]}) | Q(**{f"{rest[0][0]}__{comparison}": rest[0][1]})
        return Q(**{f"{first[0]}__{comparison}e": first[1]}) & tie

    def _cursor(self, row: Any, *, backwards: bool) -> str:
        values = [_field(type(row), name).value_to_string(row) for name in self.columns]
        return signing.dumps([int(backwards), *values], salt=_salt(type(row), self.columns), compress=False)


def _salt(model: type[Model], columns: tuple[str, ...]) -> str:
    return f"exports.cursor.{model.__name__}.{'.'.join(columns)}"


def _field(model: type[Model], name: str) -> Field[Any, Any]:
    field = model._meta.get_field(name)  # noqa: SLF001 - documented by Django under this very name
    assert isinstance(field, Field), f"{name} is no column"  # noqa: S101 - a keyset names columns
    return field


def _read(model: type[Model], columns: tuple[str, ...], cursor: str) -> _Position:
    try:
        backwards, *texts = signing.loads(cursor, salt=_salt(model, columns))
        values = tuple(_field(model, name).to_python(text) for name, text in zip(columns, texts, strict=True))
    except (signing.BadSignature, ValidationError, ValueError, TypeError) as error:
        raise BadCursor("This is no cursor of this list.") from error
    return _Position(bool(backwards), values)
