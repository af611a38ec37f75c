"""The sums of each hour: of facts that never change, the same however often and by whomever they are counted."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from exports import sums, tasks
from exports.access import Reach
from exports.models import ExportJob, HourlySum
from exports.queries.sums import HOUR, Counted, among, counted, hours_until, sums_of
from exports.states import FailureReason, Happened, Status
from reconciliation.managers import Takeovers
from tests.lives import applied, cancel, delivered, delivering, rejected, running, unknown
from tests.people import a_destination, a_tenant, an_export

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from exports.models import Destination, Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

EVERYTHING = Reach(None)


@pytest.fixture
def tenant() -> Tenant:
    return a_tenant()


@pytest.fixture
def destination(tenant: Tenant) -> Destination:
    return a_destination(tenant)


def owner(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


def now() -> datetime:
    ((at,),) = owner("SELECT clock_timestamp()")
    found: datetime = at
    return found


def counts(reach: Reach = EVERYTHING) -> Counter[Happened]:
    found: Counter[Happened] = Counter()
    for (_, what), count in sums_of(reach, hours_until(now())[0]).items():
        found[what] += count
    return found


def expired(job: ExportJob) -> None:
    owner("UPDATE export_jobs SET lease_expires_at = clock_timestamp() - interval '1 hour' WHERE id = %s", job.id)


def resolved(destination: Destination, resolution: Status) -> ExportJob:
    """Let recovery resolve a delivery whose worker has gone."""
    life = delivering(destination)
    expired(life.job)
    applied(
        Takeovers("worker").resolve(
            job_id=life.job.id,
            expired_attempt_id=life.attempt_id,
            recovery_run_id="recovery-1",
            resolution=resolution,
            evidence_summary="seen",
        )
    )
    return life.job


def one_of_each(destination: Destination) -> dict[Happened, set[UUID]]:
    """Let one export, or two, end in each way there is; return which."""
    stopped = running(destination)
    stopped.cancel()
    stopped.stop()
    canceled = an_export(destination)
    cancel(canceled)
    late = delivered(destination)
    late.cancel()  # a click that comes too late ends nothing
    refused = delivering(destination).finish(Status.FAILED, FailureReason.NOT_DELIVERED)
    ended = {
        Happened.COMPLETED: {late.job.id, resolved(destination, Status.COMPLETED).id},
        Happened.OUTCOME_UNKNOWN: {unknown(destination).job.id, resolved(destination, Status.OUTCOME_UNKNOWN).id},
        Happened.FAILED: {running(destination).fail(FailureReason.BUILD_FAILED).job.id, refused.job.id},
        Happened.STOPPED: {stopped.job.id},
        Happened.CANCELED: {canceled.id},
        Happened.REJECTED: {rejected(destination, "no").id},
    }
    running(destination), an_export(destination)  # under way: they have only been created
    return ended


def test_everything_that_happened_is_counted_once_as_what_it_was(destination: Destination) -> None:
    ended = one_of_each(destination)

    sums.count_hours("worker")

    created = ExportJob.objects.count()
    assert counts() == {Happened.CREATED: created} | {what: len(jobs) for what, jobs in ended.items()}


def test_each_sum_leads_to_the_exports_it_counts(destination: Destination) -> None:
    ended = one_of_each(destination)
    hours = hours_until(now())

    for what, jobs in ended.items():
        asked = counted(Counted(what, hours[0], hours[-1] + HOUR).text)
        assert asked is not None
        assert set(among(ExportJob.objects.all(), asked).values_list("id", flat=True)) == jobs, what
        before = Counted(what, hours[0], hours[-1] - HOUR)
        assert not among(ExportJob.objects.all(), before).exists()


@pytest.mark.parametrize(
    "text", ["", "x", "Created.2026-01-01T00", "Claimed.2026-01-01T00.2026-01-01T01", "Created.1.2"]
)
def test_what_is_no_sum_is_none(text: str) -> None:
    assert counted(text) is None


def test_counting_again_finds_nothing_new_and_what_came_meanwhile(destination: Destination) -> None:
    one_of_each(destination)
    assert sums.count_hours("worker") > 0
    first = counts()

    assert sums.count_hours("worker") == 0
    assert counts() == first

    delivered(destination)
    assert sums.count_hours("worker") > 0
    assert counts() == first + Counter({Happened.CREATED: 1, Happened.COMPLETED: 1})


def moved(ago: timedelta) -> None:
    """Let everything so far have happened earlier."""
    for table, column in (("export_jobs", "created_at"), ("export_attempt_events", "recorded_at")):
        owner(f"UPDATE {table} SET {column} = {column} - %s", ago)


def test_after_a_pause_of_hours_the_sums_are_what_they_would_have_been(destination: Destination) -> None:
    delivered(destination)
    sums.count_hours("worker")
    owner("UPDATE hourly_sums SET hour = hour - interval '5 hours'")
    moved(timedelta(hours=5))
    delivered(destination)
    moved(timedelta(hours=2))
    owner("UPDATE hourly_sums SET hour = hour - interval '2 hours'")
    delivered(destination)

    sums.count_hours("worker")

    assert counts() == {Happened.CREATED: 3, Happened.COMPLETED: 3}
    incremental = set(HourlySum.objects.values_list("hour", "what", "count"))
    HourlySum.objects.all().delete()
    sums.count_hours("worker")
    assert set(HourlySum.objects.values_list("hour", "what", "count")) == incremental


def test_what_commits_after_its_hour_was_counted_is_counted_too(destination: Destination) -> None:
    delivered(destination)
    sums.count_hours("worker")
    late = delivered(destination).job
    owner("UPDATE export_jobs SET created_at = created_at - interval '1 hour' WHERE id = %s", late.id)

    sums.count_hours("worker")

    assert counts()[Happened.CREATED] == 2


def test_a_sum_never_shrinks_by_a_count_that_began_earlier(destination: Destination) -> None:
    delivered(destination)
    sums.count_hours("worker")
    owner("UPDATE hourly_sums SET count = count + 1")  # what another, later count has found

    sums.count_hours("worker")

    assert counts() == {Happened.CREATED: 2, Happened.COMPLETED: 2}


def test_sums_of_more_than_a_week_ago_are_forgotten_and_nothing_before_yesterday_is_counted(
    destination: Destination,
) -> None:
    delivered(destination)
    moved(timedelta(hours=27))
    sums.count_hours("worker")
    assert not HourlySum.objects.exists()

    old = now() - timedelta(days=9)
    HourlySum.objects.create(hour=old, tenant_id=destination.tenant_id, what=Happened.CREATED, count=1)
    delivered(destination)
    sums.count_hours("worker")
    assert not HourlySum.objects.filter(hour=old).exists()


def test_sums_are_of_ones_own_tenants(destination: Destination) -> None:
    delivered(destination)
    other = a_destination(a_tenant())
    delivered(other)
    sums.count_hours("worker")

    assert counts(Reach(frozenset({other.tenant_id}))) == {Happened.CREATED: 1, Happened.COMPLETED: 1}
    assert counts(Reach(frozenset())) == {}


def test_the_task_counts_and_outlives_a_database_that_is_away(destination: Destination) -> None:
    delivered(destination)
    tasks.count_hours()
    assert counts() == {Happened.CREATED: 1, Happened.COMPLETED: 1}

    told = connections["default"].settings_dict
    port, told["PORT"] = told["PORT"], "1"
    connections["default"].close()
    try:
        tasks.count_hours()
    finally:
        told["PORT"] = port
