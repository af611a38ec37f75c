"""Batches over large tables go through their partial indexes, however many finished exports lie beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from django.db import connections

from exports.conf import limits
from exports.sql import STATEMENTS
from exports.states import Status
from reconciliation import candidates
from tests.bench.bench import Sizes
from tests.bench.datasets import fill_jobs

if TYPE_CHECKING:
    from config.devstack.stack import Stack

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "worker"])

SIZES = Sizes(stale_jobs=500, expired_jobs=200)
FINISHED = 5_000
HALF_DELIVERING = """
    UPDATE export_jobs SET status = 'Delivering'
    WHERE id IN (SELECT id FROM export_jobs WHERE status = 'Running' ORDER BY lease_expires_at DESC LIMIT 100)"""


@pytest.fixture(autouse=True)
def _many_exports(stack: Stack, transactional_db: None) -> None:  # noqa: ARG001 - the database exists first
    """Fill the tables as the benchmark does: past the guards, which only a superuser may send away."""
    url = stack.postgres.url(database=connections["default"].settings_dict["NAME"])
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("SET session_replication_role = replica")
        fill_jobs(session, SIZES, FINISHED)
        session.execute(HALF_DELIVERING)
        session.execute("VACUUM ANALYZE export_jobs")


def test_a_sweep_reads_the_index_of_queued_exports_only_as_far_as_its_bound() -> None:
    told = {"sweep_after_seconds": limits().sweep_after_seconds, "batch": 100}
    with connections["worker"].cursor() as cursor:
        cursor.execute(f"EXPLAIN {STATEMENTS['sweep'].text}", told)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Scan using ix_export_jobs_woken" in plan
    assert "Index Cond: (woken_at <" in plan
    assert "Seq Scan on export_jobs" not in plan


@pytest.mark.parametrize("status", [Status.RUNNING, Status.DELIVERING])
def test_recovery_reads_the_index_of_leases(status: Status) -> None:
    plan = candidates.page_of(status, None, "worker", candidates.PAGE).explain()
    assert "ix_export_jobs_lease" in plan
    assert "Seq Scan on export_jobs" not in plan
