"""Contacts that break careless writers of CSV, and what a careful one must make of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from django.db import connection

from exports.models import Contact, Tenant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLUMNS = ("external_id", "email", "given_name", "family_name", "phone", "company", "country", "notes")

Row = tuple[str, ...]

NAMES = (
    "Zoë", "Łukasz", "Ñandú", "O'Brien", 'Ann "Sunny" Lee', "李小龍", "عبد الرحمن", "שרה", "Ζωή", "e\u0301le\u0300ve",
    "👩‍👩‍👧‍👦", "🇩🇪 Jürgen", "\u202eevil\u202c", "", " leading and trailing ", "semi;colon", "comma, Inc.", "tab\there",
)  # fmt: skip
NOTES = (
    "", "two\nlines", "carriage\r\nreturn", "\r", "\n\n", '"', '""', '","', "\\.", "\\N", "NULL", "=1+1", "@SUM(A1)",
    "\ufeffmark", "\u2028separator", "a" * 3000, "back\\slash", "'apostrophe", "café ☕, “quoted”\n", ";|\t,",
)  # fmt: skip


def a_tenant(slug: str = "acme") -> Tenant:
    return Tenant.objects.create(slug=slug, name=slug.capitalize())


def awkward_rows(number: int) -> Iterator[Row]:
    """Yield so many rows, the same ones every time; ids in the order of the file."""
    chance = random.Random(number)  # noqa: S311 - test data
    for at in range(number):
        name, note = chance.choice(NAMES), chance.choice(NOTES)
        yield (f"id-{at:07}", f"{at}@example.org", name, chance.choice(NAMES), f"+49 {at}", name, "DE", note)


def load(tenant: Tenant, rows: Iterable[Row]) -> None:
    """Put rows into the built-in table, as its owner."""
    statement = f"COPY contacts (tenant_id, {', '.join(COLUMNS)}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row((tenant.id, *row))


def load_one(tenant: Tenant, external_id: str = "1", **values: str) -> Contact:
    return Contact.objects.create(tenant=tenant, external_id=external_id, **values)


def csv_cell(value: str, delimiter: str = ",") -> str:
    """Return one cell as RFC 4180 and PostgreSQL write it: an empty text is quoted, to differ from no text."""
    if value == "" or any(mark in value for mark in (delimiter, '"', "\r", "\n")):
        return '"' + value.replace('"', '""') + '"'
    return value


def csv_file(rows: Iterable[Row], *, header: Row | None = COLUMNS, delimiter: str = ",", end: str = "\n") -> str:
    """Return the whole file, computed without the code under test."""
    lines = [] if header is None else [delimiter.join(header)]
    lines += [delimiter.join(csv_cell(value, delimiter) for value in row) for row in rows]
    return "".join(line + end for line in lines)
