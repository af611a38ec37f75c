"""Between tests that commit, only what they wrote is emptied: what migrations made (groups, rights) stays.

Django's own flush empties everything and then makes permissions, groups and grants anew, which costs more than
most of these tests.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.apps import apps
from django.db import connections
from django.test import TransactionTestCase

MADE_BY_MIGRATIONS = {"django_content_type", "auth_permission", "auth_group", "auth_group_permissions"}


def empty_what_tests_write(case: TransactionTestCase) -> None:
    """Empty every other table of the databases this test used (replaces the fixture teardown)."""
    databases: Any = case
    for alias in databases._databases_names(include_mirrors=False):
        with connections[alias].cursor() as cursor:
            cursor.execute(f"TRUNCATE {', '.join(_written())} RESTART IDENTITY CASCADE")


@cache
def _written() -> tuple[str, ...]:
    models = apps.get_models(include_auto_created=True)
    tables = {model._meta.db_table for model in models if model._meta.managed and not model._meta.proxy}
    return tuple(sorted(tables - MADE_BY_MIGRATIONS))


TransactionTestCase._fixture_teardown = empty_what_tests_write  # type: ignore[attr-defined] # Django's own hook
