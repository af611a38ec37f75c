"""On an export's page: how long each phase took and whose it was, why it was woken, and the rows as they are."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections
from django.utils import timezone

from exports.admin.phases import phases_of
from exports.models import ExportAttemptEvent, ExportJob
from exports.queries.history import history_of
from exports.states import FailureReason, Status
from reconciliation.managers import Takeovers
from tests.lives import WORKER, applied, cancel, delivered, delivering, rejected, running, unknown
from tests.people import an_export

if TYPE_CHECKING:
    from exports.models import Destination
    from tests.lives import Life
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

PREPARING = "Preparing the file, and reaching the partner"
DELIVERY = ["Looking at the final name", "Uploading", "Waiting for the final name", "Looking at what stands there"]


def names(job: ExportJob) -> list[str]:
    return [phase.name for phase in phases_of(history_of(ExportJob.objects.get(id=job.id)), timezone.now())]


def owner(statement: str, *values: Any) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(statement, values)


def spread(job: ExportJob) -> None:
    """Let each event have come ten seconds after the one before; the owner can move clocks."""
    start = job.created_at
    for at, event in enumerate(ExportAttemptEvent.objects.filter(job_id=job.id).order_by("id"), start=1):
        owner(
            "UPDATE export_attempt_events SET recorded_at = %s WHERE id = %s",
            start + timedelta(seconds=10 * at),
            event.id,
        )


def test_each_phase_of_a_delivery_has_its_length_and_its_worker(viewer: RoleClient, destination: Destination) -> None:
    life = delivered(destination)
    spread(life.job)

    found = phases_of(history_of(ExportJob.objects.get(id=life.job.id)), timezone.now())

    assert [phase.name for phase in found] == ["Waiting for a worker", PREPARING, *DELIVERY, "Concluding"]
    assert [phase.took for phase in found] == ["10 s"] * 6 + ["20 s"]  # the conclusion is recorded, then the end
    assert [(phase.attempt, phase.who) for phase in found] == [(None, ""), *[(1, WORKER)] * 6]
    page = page_of(viewer, life)
    assert "How long each phase took" in page
    assert re.search(r"Uploading\s+10 s\s+1\s+worker-1", page)


def page_of(viewer: RoleClient, life: Life) -> str:
    page = viewer.get(f"/admin/exports/exportjob/{life.job.id}/change/").content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_what_goes_on_says_so(destination: Destination) -> None:
    waiting, preparing, sending = an_export(destination), running(destination).job, delivering(destination).job

    for job, last in ((waiting, "Waiting for a worker"), (preparing, PREPARING), (sending, DELIVERY[0])):
        found = phases_of(history_of(ExportJob.objects.get(id=job.id)), timezone.now() + timedelta(minutes=3))
        assert found[-1].name == last
        assert found[-1].took.endswith("so far")
        assert found[-1].took.startswith(("2 min", "3 min"))


@pytest.mark.parametrize("how", ["cancelled", "refused", "stopped", "failed"])
def test_what_has_ended_goes_on_no_longer(how: str, destination: Destination) -> None:
    if how == "cancelled":
        job = an_export(destination)
        cancel(job)
    elif how == "refused":
        job = rejected(destination, "no")
    else:
        life = running(destination)
        job = life.job
        if how == "stopped":
            life.cancel()
            life.stop()
        else:
            life.fail(FailureReason.BUILD_FAILED)

    found = phases_of(history_of(ExportJob.objects.get(id=job.id)), timezone.now() + timedelta(hours=1))

    assert [phase.took for phase in found] == ["under 1 s"] * len(found)


def test_an_unknown_outcome_waits_for_a_decision_until_there_is_one(destination: Destination) -> None:
    job = unknown(destination).job
    assert names(job)[-1] == "Waiting for somebody's decision"

    owner(
        "INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, recorded_at)"
        " SELECT id, attempt_id, 'Reconciled', 'user:rita', clock_timestamp() FROM export_jobs WHERE id = %s",
        job.id,
    )
    found = phases_of(history_of(ExportJob.objects.get(id=job.id)), timezone.now())
    assert not found[-1].took.endswith("so far")


def test_a_second_attempt_waits_and_begins_anew(destination: Destination) -> None:
    life = running(destination)
    owner("UPDATE export_jobs SET lease_expires_at = clock_timestamp() - interval '1 hour' WHERE id = %s", life.job.id)
    applied(
        Takeovers("worker").requeue(
            job_id=life.job.id, expired_attempt_id=life.attempt_id, max_attempts=5, recovery_run_id="recovery-1"
        )
    )

    assert names(life.job) == ["Waiting for a worker", PREPARING, "Waiting for a worker"]


def test_a_wake_up_without_a_cause_of_its_own_is_the_sweepers_or_a_holds(
    viewer: RoleClient, destination: Destination
) -> None:
    job = an_export(destination)
    owner(
        "INSERT INTO outbox (message_id, kind, job_id, created_at)"
        " VALUES (gen_random_uuid(), 'ExportReady', %s, clock_timestamp() + interval '1 hour')",
        job.id,
    )
    page = viewer.get(f"/admin/exports/exportjob/{job.id}/change/").content.decode()

    assert page.count("Wake-up written") == 2
    assert page.count("Written by the sweeper, or because a hold ended.") == 1


def test_the_rows_stand_below_as_the_tables_hold_them(viewer: RoleClient, destination: Destination) -> None:
    life = delivered(destination)
    life.cancel()

    page = viewer.get(f"/admin/exports/exportjob/{life.job.id}/change/").content.decode().split('id="raw"')[1]
    tables = {
        name: json.loads(unescape(rows))
        for name, rows in re.findall(
            r'<summary>(\w+): \d+ rows?</summary><pre class="raw">(.*?)</pre>', page, re.DOTALL
        )
    }

    (row,) = tables["export_jobs"]
    assert row["status"] == Status.COMPLETED
    assert row["expected_file_sha256"] == bytes(ExportJob.objects.get(id=life.job.id).expected_file_sha256 or b"").hex()
    assert len(row) == len(ExportJob._meta.concrete_fields)
    assert len(tables["export_attempt_events"]) == ExportAttemptEvent.objects.filter(job_id=life.job.id).count()
    assert set(tables) == {
        "export_jobs", "creation_requests", "authorized_files", "outbox", "cancellation_requests",
        "export_attempt_events",
    }  # fmt: skip
