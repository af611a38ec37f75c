"""The scavenger: contact data of attempts that are over goes, and nothing else does."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections

from exports import scavenger
from exports.conf import limits
from exports.scavenger import Scavenged, run_once
from exports.worker.spool import file_name, owner_of
from tests.recovery import lives
from tests.worker.building import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.models import ExportJob

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

OLD_SECONDS = 1_000.0


@pytest.fixture
def spool(tmp_path: Path, settings: Any) -> Path:
    place = tmp_path / "spool"
    place.mkdir(mode=0o700)
    settings.EXPORTS = replace(limits(), spool_dir=place, lease_seconds=60.0)
    return place


def left(spool: Path, job: ExportJob | None = None, *, age_seconds: float = OLD_SECONDS) -> Path:
    """Leave a file of a job's current attempt, or of one nobody knows, last written so long ago."""
    job_id, attempt_id = (job.id, job.attempt_id) if job else (uuid.uuid4(), None)
    file = spool / file_name(job_id, attempt_id or uuid.uuid4())
    file.write_bytes(b"a contact")
    aged(file, age_seconds)
    return file


def aged(file: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file, (then, then), follow_symlinks=False)


def scavenge(limit: int = 100) -> Scavenged:
    return run_once(limit, using="worker")


def test_a_file_whose_attempt_nobody_knows_is_removed(spool: Path) -> None:
    file = left(spool)

    assert scavenge() == Scavenged(removed=1)
    assert not file.exists()


@pytest.mark.parametrize("life", [lives.running, lives.delivering])
def test_a_live_attempt_s_file_is_kept_however_old_it_is(spool: Path, life: Any) -> None:
    file = left(spool, life(lives.a_place()))

    assert scavenge() == Scavenged(live=1)
    assert file.exists()


def test_an_expired_lease_ends_nothing_so_its_file_is_kept(spool: Path) -> None:
    lives.expire(job := lives.running(lives.a_place()))
    file = left(spool, job)

    assert scavenge() == Scavenged(live=1)
    assert file.exists()


def test_the_file_of_an_attempt_that_ended_is_removed(spool: Path) -> None:
    file = left(spool, lives.finish(lives.delivering(lives.a_place())))

    assert scavenge() == Scavenged(removed=1)
    assert not file.exists()


def test_the_file_of_an_earlier_attempt_is_removed_while_the_current_one_s_is_kept(spool: Path) -> None:
    job = lives.running(lives.a_place())
    current = left(spool, job)
    job.attempt_id = uuid.uuid4()
    earlier = left(spool, job)

    assert scavenge() == Scavenged(removed=1, live=1)
    assert (earlier.exists(), current.exists()) == (False, True)


@pytest.mark.parametrize(("age_seconds", "removed"), [(110.0, 0), (130.0, 1), (-1_000.0, 0)])
def test_a_file_stays_for_two_leases_after_it_was_last_written(spool: Path, age_seconds: float, removed: int) -> None:
    left(spool, age_seconds=age_seconds)

    assert scavenge() == Scavenged(removed=removed, young=1 - removed)


def test_each_removal_is_logged_with_job_and_attempt(spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = left(spool)

    scavenge()

    [record] = [each for each in caplog.records if each.message == "spool_leftover_removed"]
    facts = vars(record)
    assert file.name == f"{facts['job_id']}.{facts['attempt_id']}.part"
    assert facts["bytes"] == 9


def test_other_entries_are_not_touched(spool: Path, tmp_path: Path) -> None:
    outside = tmp_path / file_name(uuid.uuid4(), uuid.uuid4())
    outside.write_text("not in the spool")
    (spool / "notes.txt").write_text("mine")
    (spool / f"{uuid.uuid4()}.part").write_text("mine")
    (spool / file_name(uuid.uuid4(), uuid.uuid4())).mkdir()
    (spool / file_name(uuid.uuid4(), uuid.uuid4())).symlink_to(outside)
    (spool / "deeper").mkdir()
    (spool / "deeper" / outside.name).write_text("not an attempt's file either")
    for each in (outside, *spool.rglob("*")):
        aged(each, OLD_SECONDS)
    before = sorted(spool.rglob("*"))

    assert scavenge() == Scavenged(strange=5)
    assert sorted(spool.rglob("*")) == before
    assert outside.read_text() == "not in the spool"


def test_a_file_that_its_worker_removes_meanwhile_is_no_failure(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def remove_first(name: str) -> Any:
        (spool / name).unlink()
        return owner_of(name)

    left(spool)
    monkeypatch.setattr(scavenger, "owner_of", remove_first)

    assert scavenge() == Scavenged()


def test_a_link_to_a_directory_is_refused_as_a_spool(spool: Path, tmp_path: Path, settings: Any) -> None:
    file = left(spool)
    (tmp_path / "link").symlink_to(spool)
    settings.EXPORTS = replace(limits(), spool_dir=tmp_path / "link")

    with pytest.raises(CommandError, match="it is a link or a file"):
        call_command("scavenge", once=True)

    assert file.exists()


def test_a_run_removes_no_more_than_its_limit_and_the_next_one_goes_on(spool: Path) -> None:
    for _ in range(5):
        left(spool)

    assert [scavenge(limit=2).removed for _ in range(4)] == [2, 2, 1, 0]


def test_more_files_than_fit_one_question_are_all_asked_about(spool: Path) -> None:
    kept = left(spool, lives.running(lives.a_place()))
    for _ in range(1_100):
        left(spool)

    assert scavenge(limit=5_000) == Scavenged(removed=1_100, live=1)
    assert list(spool.iterdir()) == [kept]


def change_attributes(change: str, file: Path) -> bool:
    """Make a file immutable for everybody (+i) or ordinary again (-i); whether that was possible."""
    program = shutil.which("chattr")
    return program is not None and subprocess.run([program, change, file], check=False).returncode == 0


@pytest.fixture
def immutable(spool: Path) -> Iterator[Path]:
    """Leave a file that nobody can remove, root included."""
    file = left(spool)
    if not change_attributes("+i", file):
        if os.environ.get("REQUIRE_SERVERS") == "1":
            pytest.fail("REQUIRE_SERVERS=1, but no file can be made immutable here")
        pytest.skip("no file can be made immutable here")
    yield file
    if file.exists():
        change_attributes("-i", file)


def test_a_file_that_cannot_be_removed_is_kept_logged_and_tried_again(
    spool: Path, immutable: Path, caplog: pytest.LogCaptureFixture
) -> None:
    others = [left(spool) for _ in range(3)]

    first, second = scavenge(limit=2), scavenge(limit=2)

    assert (first.removed, second.removed, second.failed) == (2, 1, 1)
    assert [file.exists() for file in (immutable, *others)] == [True, False, False, False]
    failures = [each.levelno for each in caplog.records if each.message == "spool_file_not_removed"]
    assert failures == [logging.ERROR] * (first.failed + second.failed)

    change_attributes("-i", immutable)
    assert scavenge() == Scavenged(removed=1)


def test_without_the_database_nothing_is_removed(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = left(spool)
    values = connections["worker"].settings_dict
    connections["worker"].close()
    monkeypatch.setitem(values, "PORT", 1)

    with pytest.raises(OperationalError):
        scavenge()

    assert file.exists()


def test_a_scheduled_run_survives_a_database_that_is_away(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> Scavenged:
        raise OperationalError

    file = left(spool)
    monkeypatch.setattr(scavenger, "run_once", away)

    assert scavenger.run() == Scavenged(finished=False)
    assert file.exists()


def test_the_command_prints_its_counts_as_json(spool: Path) -> None:
    left(spool)
    out = StringIO()

    call_command("scavenge", once=True, stdout=out)

    assert json.loads(out.getvalue()) == {
        "removed": 1, "failed": 0, "live": 0, "young": 0, "strange": 0, "finished": True,
        "partners": {"visited": 0, "removed": 0, "kept": 0, "failed": 0, "unreached": 0},
    }  # fmt: skip
    assert list(spool.iterdir()) == []


# A worker that is killed

BUILD = """
import sys, uuid, django
django.setup()
from exports.contracts import Payload
from exports.worker.builder import build
from exports.worker.stop import StopSignal
job, attempt, tenant = map(uuid.UUID, sys.argv[1:])
build(job_id=job, attempt_id=attempt, tenant_id=tenant, payload=Payload(), stop=StopSignal())
"""


@contextmanager
def building(job: ExportJob, spool: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Build this attempt's file in a process of its own, under the worker's role."""
    values = connections["worker"].settings_dict
    url = f"postgresql://{values['USER']}:{values['PASSWORD']}@{values['HOST']}:{values['PORT']}/{values['NAME']}"
    changes = {
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
        "EXPORT_ROLE": "worker",
        "WORKER_DATABASE_URL": url,
        "EXPORT_SPOOL_DIR": str(spool),
    }
    ids = map(str, (job.id, job.attempt_id, job.tenant_id))
    process = subprocess.Popen([sys.executable, "-c", BUILD, *ids], env=os.environ | changes, cwd=Path.cwd())
    try:
        yield process
    finally:
        process.kill()
        process.wait(20)


def test_a_worker_killed_while_building_leaves_a_file_that_goes_when_its_attempt_is_taken_over(
    spool: Path, admin_url: str
) -> None:
    job = lives.running(lives.a_place())
    database = connections["default"].settings_dict["NAME"]
    with psycopg.connect(admin_url, autocommit=True) as admin, psycopg.connect(admin_url, dbname=database) as holder:
        holder.execute("LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE")
        ask = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND %s = ANY (pg_blocking_pids(pid))"
        wanted = [f"contact-exports build {job.attempt_id}", holder.info.backend_pid]
        with building(job, spool) as process:
            until(lambda: admin.execute(ask, wanted).fetchone(), seconds=60)
            process.kill()  # SIGKILL: no finally of the worker runs

    [file] = spool.iterdir()
    aged(file, OLD_SECONDS)
    assert scavenge() == Scavenged(live=1)
    with connections["default"].cursor() as owner:
        owner.execute("UPDATE export_jobs SET status = 'Queued', attempt_id = NULL WHERE id = %s", [job.id])
    assert scavenge() == Scavenged(removed=1)
    assert not file.exists()
