"""The gauges say what the tables hold, from indexes, capped, and only that the database is away when it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection, connections, transaction
from prometheus_client.parser import text_string_to_metric_families

from exports.models import Hold, ProcessHeartbeat
from exports.observability import gauges
from exports.states import Status
from tests.factories import ExportFactory
from tests.observability.seeing import seen

if TYPE_CHECKING:
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])


def scraped(browser: RoleClient) -> dict[tuple[str, str], float]:
    """Return every gauge by its name and its one label."""
    answer: Any = browser.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_exports_holds_outbox_and_processes_are_shown_as_they_are(browser: RoleClient) -> None:
    for status in (Status.QUEUED, Status.QUEUED, Status.RUNNING, Status.OUTCOME_UNKNOWN, Status.COMPLETED):
        job = ExportFactory(status=status)
    Hold.objects.create(tenant_id=job.tenant_id, cause="Paused", reason="moving", created_by="user:ann")
    seen("worker:x:1:a", seconds_ago=30)
    seen("worker:x:2:b", "queue:exports")

    found = scraped(browser)

    assert [found["exports_jobs", status] for status in ("Queued", "Running", "Delivering", "OutcomeUnknown")] == [
        2, 1, 0, 1
    ]  # fmt: skip
    assert ("exports_jobs", "Completed") not in found
    assert found["exports_outbox_waiting", ""] == 5
    assert 0 < found["exports_outbox_lag_seconds", ""] < 60
    assert 0 < found["exports_oldest_seconds", "Queued"] < 60
    assert found["exports_holds", "Paused"] == 1
    assert found["exports_seen_seconds", "worker"] < 20
    assert (found["exports_processes", "worker"], found["exports_processes", "queue:exports"]) == (2, 1)
    assert found["exports_database_up", ""] == 1


def test_nothing_waiting_is_shown_as_none_waiting_for_no_time(browser: RoleClient) -> None:
    ProcessHeartbeat.objects.all().delete()

    found = scraped(browser)

    assert found["exports_oldest_seconds", "Queued"] == found["exports_outbox_lag_seconds", ""] == 0


def test_while_the_database_is_away_only_that_is_shown_and_the_counters_stay(browser: RoleClient) -> None:
    told = connections["default"].settings_dict
    port, told["PORT"] = told["PORT"], "1"
    connections["default"].close()
    try:
        found = scraped(browser)
    finally:
        told["PORT"] = port

    assert found["exports_database_up", ""] == 0
    assert ("exports_jobs", "Queued") not in found
    assert ("exports_dispatched_total", "") in found


@pytest.mark.parametrize("query", ["_JOBS", "_OLDEST", "_EXPIRED", "_OUTBOX"])
def test_no_gauge_reads_a_table_that_grows_for_ever(query: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # what a full table would make it choose
        cursor.execute(f"EXPLAIN (FORMAT JSON) {getattr(gauges, query)}", [])
        plan = cursor.fetchone()[0]

    text = plan if isinstance(plan, str) else json.dumps(plan)
    indexes = {name.split('"')[0] for name in text.split('"Index Name": "')[1:]}
    assert indexes
    assert '"Seq Scan"' not in text
    assert not any(name.endswith("_pkey") for name in indexes), indexes
