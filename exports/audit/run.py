"""Ask every rule its question, one after the other, each in a transaction and within a bound of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connections, transaction

from exports.audit.rules import RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RULE_SECONDS = 600
"""A rule reads each of its tables about once; one that takes ten minutes meets a database that is ill otherwise."""

ROWS_AT_A_TIME = 1000
"""Findings are handed on as they come, so that a million of them need no more memory than a thousand."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row a rule found."""

    rule: Rule
    subject: str
    found: str

    def __str__(self) -> str:
        return f"{self.rule.promise} {self.rule.name}: {self.subject} {self.found}"


def audit(using: str = "default", rules: Sequence[Rule] = RULES) -> Iterator[Finding]:
    """Yield what the rules find; a rule that exceeds its bound raises Django's OperationalError."""
    for rule in rules:
        yield from _ask(rule, using)


def _ask(rule: Rule, using: str) -> Iterator[Finding]:
    connection = connections[using]
    with transaction.atomic(using=using):
        _set_bounds(using)
        with connection.chunked_cursor() as cursor:
            cursor.execute(rule.question)
            while rows := cursor.fetchmany(ROWS_AT_A_TIME):
                yield from (Finding(rule, str(subject), str(found)) for subject, found in rows)


def _set_bounds(using: str) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(f"SET LOCAL statement_timeout = '{RULE_SECONDS}s'")
        # Every row is wanted: a plan made for the first few would look up the rest one by one.
        cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
