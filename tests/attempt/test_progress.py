"""How far an attempt is, as its worker counts: the same as the file, told by its own attempt only, gone with it."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from exports import scavenger
from exports.admin.formats import size
from exports.models import AttemptProgress, Contact
from exports.states import Status
from exports.worker import builder
from exports.worker.progress import Count, Phase, Tally, forget_old, note
from exports.worker.watcher import StopWatcher
from tests.faults.boundaries import running
from tests.faults.observing import until
from tests.faults.waking import standing_at
from tests.faults.world import now
from tests.people import a_person
from tests.routing import RoleClient
from tests.worker.building import a_build

if TYPE_CHECKING:
    from pathlib import Path

    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"]),
    pytest.mark.usefixtures("short"),
]


def attempt_of(job: ExportJob) -> uuid.UUID:
    found = now(job).attempt_id
    assert found is not None
    return found


def told(job: ExportJob) -> AttemptProgress | None:
    return AttemptProgress.objects.filter(attempt_id=attempt_of(job)).first()


def has_told(job: ExportJob, **values: Any) -> bool:
    return AttemptProgress.objects.filter(attempt_id=attempt_of(job), **values).exists()


def more_contacts(world: World, count: int) -> None:
    Contact.objects.bulk_create(
        Contact(tenant=world.tenant, external_id=f"more-{at}", notes="n" * 500) for at in range(count)
    )


def test_what_is_counted_while_building_is_what_stands_in_the_file(
    world: World, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more_contacts(world, 2_000)
    monkeypatch.setattr(builder, "PROGRESS_SECONDS", 0.0)
    tally = Tally()
    tally.begin(Phase.BUILDING)
    compared = []

    def compare(rows: int, written: int) -> None:
        tally.built(rows, written)
        (draft,) = [each for each in spool.iterdir() if each.stat().st_size]
        content = draft.read_bytes()
        assert tally.latest is not None
        compared.append((tally.latest.rows, tally.latest.size) == (content.count(b"\n") - 1, len(content)))

    file = a_build(world.tenant, progress=compare)

    assert len(compared) > 10
    assert all(compared)
    assert tally.latest is not None
    assert (tally.latest.rows, tally.latest.size, tally.latest.total) == (file.rows, file.bytes, None)
    file.delete()


def test_build_and_upload_are_told_while_they_run_and_shown_on_the_exports_page(
    world: World, spool: Path, waking: Waking, settings: Any
) -> None:
    more_contacts(world, 500)
    job = world.queued()
    with standing_at("build.after") as built, standing_at("delivery.after_upload") as uploaded:
        disposition = waking.start(job)
        built.wait()
        (file,) = [each for each in spool.iterdir() if each.stat().st_size]
        content = file.read_bytes()
        until(lambda: has_told(job, phase="building", rows_done=content.count(b"\n") - 1, bytes_done=len(content)))
        assert "Building, 520 contacts" in shown(world, job, settings)
        built.let_go()
        uploaded.wait()
        until(lambda: has_told(job, phase="uploading", bytes_done=len(content), bytes_total=len(content)))
        page = shown(world, job, settings)
        assert re.search(r"Uploading, .* of .* a second; last moved", page)
        assert f"{size(len(content))} of {size(len(content))}" in page
        uploaded.let_go()
        disposition.result()

    assert now(job).status == Status.COMPLETED
    assert now(job).expected_file_bytes == len(content)
    until(lambda: told(job) is None)
    assert "last moved" not in shown(world, job, settings)


def shown(world: World, job: ExportJob, settings: Any) -> str:
    settings.DATABASE_ROUTERS = ["tests.routing.RoleRouter"]
    viewer = RoleClient()
    viewer.force_login(a_person(world.tenant, group="Export viewers"))
    page = viewer.get(f"/admin/exports/exportjob/{job.id}/change/", headers={"X-Part": "head"}).content.decode()
    settings.DATABASE_ROUTERS = []
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_short_attempt_writes_no_progress(world: World, waking: Waking, settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, stop_poll_seconds=60.0)
    job = world.queued()
    waking.run(job)

    assert now(job).status == Status.COMPLETED
    assert not AttemptProgress.objects.exists()


def a_count(done: int) -> Count:
    return Count(Phase.BUILDING, done, done * 10, None, 1.5)


def test_only_the_attempt_that_owns_its_export_is_told_of(world: World) -> None:
    job, ended = running(world), running(world)
    overtaken = uuid.uuid4()
    with connections["default"].cursor() as cursor:
        cursor.execute("UPDATE export_jobs SET status = 'Stopped', lease_expires_at = NULL WHERE id = %s", [ended.id])

    assert job.attempt_id is not None
    assert ended.attempt_id is not None
    note(
        {
            (job.id, job.attempt_id): a_count(3),
            (job.id, overtaken): a_count(9),
            (ended.id, ended.attempt_id): a_count(9),
        },
        "worker",
    )

    found = AttemptProgress.objects.values_list("attempt_id", "job_id", "rows_done", "bytes_done", "phase_seconds")
    assert list(found) == [(job.attempt_id, job.id, 3, 30, 1.5)]


def test_nothing_is_told_again_that_has_not_moved_and_little_however_often_it_is_looked(world: World) -> None:
    job = running(world)
    assert job.attempt_id is not None
    watcher, tally = StopWatcher("worker"), Tally()
    tally.built(1, 10)
    watcher.watch(job.id, job.attempt_id, lambda: None, tally)
    until(lambda: has_told(job, rows_done=1))
    first = told(job)
    tally.built(2, 20)
    began = time.monotonic()
    until(lambda: has_told(job, rows_done=2))

    assert first is not None
    moved = told(job)
    assert moved is not None
    assert (moved.updated_at - first.updated_at).total_seconds() > 0.9  # looked for stops every tenth of a second
    until(lambda: time.monotonic() - began > 2.5)
    unmoved = told(job)
    assert unmoved is not None
    assert unmoved.updated_at == moved.updated_at
    watcher.forget(job.attempt_id)
    until(lambda: told(job) is None)


def test_counts_of_killed_workers_go_after_a_day(world: World, spool: Path) -> None:
    spool.mkdir(exist_ok=True, mode=0o700)
    old, young = running(world), running(world)
    for job in (old, young):
        assert job.attempt_id is not None
        note({(job.id, job.attempt_id): a_count(1)}, "worker")
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE attempt_progress SET updated_at = updated_at - interval '25 hours' WHERE job_id = %s", [old.id]
        )

    scavenger.run()

    assert list(AttemptProgress.objects.values_list("job_id", flat=True)) == [young.id]
    assert forget_old("worker") == 0
