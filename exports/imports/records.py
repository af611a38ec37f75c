"""From lines to contacts: the header understood, every record checked, and every refusal told by its line."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final

from exports.imports.columns import COLUMNS, KEY, match_columns
from exports.imports.lines import lines_of
from exports.imports.problems import ImportRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exports.imports.problems import Problems

DELIMITERS: Final = (",", ";", "\t", "|")

MOST_FIELD_CHARS: Final = 32_767
"""What a cell of a spreadsheet can hold; a longer one is a quotation mark that was never closed."""


@dataclass(frozen=True, slots=True)
class Format:
    """What the user said about the file. Without a delimiter it is taken from the first line."""

    encoding: str = "utf-8"
    delimiter: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """One contact of the file: the line it begins on, counted from 1, and its values by column."""

    line: int
    values: dict[str, str]

    @property
    def key(self) -> str:
        """The CRM's own key."""
        return self.values[KEY]


class Records:
    """The contacts of a file, to be read once. Records that cannot be used become problems and are left out."""

    def __init__(self, file: BinaryIO, form: Format, problems: Problems) -> None:
        self._problems = problems
        lines = lines_of(file, form.encoding, problems)
        first = next(lines, "")
        if not first.strip():
            raise ImportRefused("The file is empty, or its first line is: that is where the columns' names belong.")
        delimiter = form.delimiter or _delimiter_of(first)
        self._rows = csv.reader(_again(first, lines), delimiter=delimiter, strict=True)
        self._width = len(header := self._next_row() or [])
        self._positions = match_columns(header, form.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a contact that the file has, in the order of COLUMNS."""
        return tuple(column for column in COLUMNS if column in self._positions)

    @property
    def left_out(self) -> list[int]:
        """Positions, counted from 1, of the file's columns that no contact has."""
        return sorted(set(range(1, self._width + 1)) - {at + 1 for at in self._positions.values()})

    def __iter__(self) -> Iterator[Record]:
        line = self._rows.line_num + 1
        while (row := self._next_row()) is not None:
            if row and (record := self._record(line, row)) is not None:
                yield record
            line = self._rows.line_num + 1

    def _next_row(self) -> list[str] | None:
        """Return the next row, [] for an empty line, None at the end; what no CSV allows ends the reading."""
        begins = self._rows.line_num + 1
        try:
            return next(self._rows, None)
        except csv.Error:
            ends = self._rows.line_num
            raise ImportRefused(
                f"The record on line {begins} (read up to line {ends}) is no CSV: its quotation marks do not match,"
                " or a field has no end; nothing was loaded."
            ) from None

    def _record(self, line: int, row: list[str]) -> Record | None:
        if len(row) != self._width:
            self._problems.add(line, f"has {len(row)} fields where the first line has {self._width}")
            return None
        values = {column: row[position] for column, position in self._positions.items()}
        wrong = _trouble_with(values)
        if wrong is not None:
            self._problems.add(line, wrong)
            return None
        return Record(line, values)


def _trouble_with(values: Mapping[str, str]) -> str | None:
    if not values[KEY].strip():
        return f"has no {KEY}"
    for column, value in values.items():
        if len(value) > MOST_FIELD_CHARS:
            return f"has a {column} of more than {MOST_FIELD_CHARS} characters"
    return None


def _delimiter_of(first: str) -> str:
    """Return the delimiter that parts the first line into most names; a comma when none of them does."""
    return max(DELIMITERS, key=lambda delimiter: _names_in(first, delimiter))


def _names_in(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter, strict=True)))
    except csv.Error:  # with this one, its quotation marks would make no sense
        return 0


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest
