"""What one export costs the database, from its creation to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from tests.speed.conftest import counted_round_trips

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

WORKERS = ["claim", "authorize", "baseline", "publish sent", "publish answered", "read back", "outcome", "finish"]


def test_a_life_is_nine_statements_and_nine_round_trips(one_life: Callable[[], None]) -> None:
    with (
        counted_round_trips("api") as created,
        counted_round_trips("worker") as worked,
        CaptureQueriesContext(connections["api"]) as asked_by_api,
        CaptureQueriesContext(connections["worker"]) as asked_by_worker,
    ):
        one_life()
    assert (len(asked_by_api), len(asked_by_worker)) == (1, len(WORKERS))
    assert (created.count, worked.count) == (1, len(WORKERS))


def test_a_session_prepares_each_of_these_statements_once(one_life: Callable[[], None]) -> None:
    one_life()
    with connections["worker"].cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE NOT from_sql")
        prepared = [row[0] for row in cursor.fetchall()]
    assert len(prepared) == len(set(prepared)) == len({"claim", "authorize", "append", "finish"})
