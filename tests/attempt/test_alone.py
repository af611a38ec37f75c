"""A job under suspicion runs in a process of its own, which takes nobody with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped] # no stubs among the requirements
import pytest

from exports.disposition import Disposition
from exports.models import ExportJob
from exports.states import Status
from exports.worker.alone import ALONE_FROM_ATTEMPTS, run_alone
from exports.worker.process import WorkerProcess
from exports.worker.runner import WakeUp
from tests.faults.observing import held_contacts, until
from tests.faults.processes import worker_environment
from tests.faults.waking import Message
from tests.faults.world import kinds, lease_is_over, now
from tests.observability.counting import Moved

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.stack import Stack
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"]),
]


@pytest.fixture(autouse=True)
def _environment(stack: Stack, spool: Path, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give children what a worker process of this run's database has."""
    del transactional_db
    for name, value in worker_environment(stack.broker.url(), spool).items():
        monkeypatch.setenv(name, value)


def suspicious(world: World) -> ExportJob:
    """Return a queued export with as many attempts behind it as make it suspicious."""
    job = world.queued()
    ExportJob.objects.filter(id=job.id).update(attempt_count=ALONE_FROM_ATTEMPTS)
    return now(job)


def children() -> list[psutil.Process]:
    """Return the processes this one has started to run a job alone."""
    return [each for each in psutil.Process().children() if "run_wake_up" in each.cmdline()]


def test_a_job_with_attempts_behind_it_is_run_by_another_process(world: World, waking: Waking) -> None:
    job = suspicious(world)
    worker = WorkerProcess(waking.drain, using="worker")

    assert WakeUp(job.id, waking.message.settle, worker).run() is Disposition.SETTLED

    assert waking.message.settled == 1
    assert now(job).status == Status.COMPLETED
    assert now(job).claimed_by != worker.worker_id
    assert children() == []


def test_what_a_child_process_counted_for_its_one_export_is_counted_by_its_parent(world: World, waking: Waking) -> None:
    job = suspicious(world)
    moved = Moved()
    worker = WorkerProcess(waking.drain, using="worker")

    WakeUp(job.id, waking.message.settle, worker).run()

    assert now(job).status == Status.COMPLETED
    assert moved.by("claims_total", answer="Claimed") == 1
    assert moved.by("verdicts_total", conclusion="Completed", proof="hash") == 1
    assert [moved.by("phase_seconds_count", phase=phase) for phase in ("build", "connect", "deliver")] == [1, 1, 1]
    assert moved.by("phase_seconds_sum", phase="build") > 0
    assert moved.by("built_rows_total") == 20


@pytest.mark.parametrize("attempts", range(ALONE_FROM_ATTEMPTS))
def test_a_job_with_fewer_attempts_is_run_here(attempts: int, world: World, waking: Waking) -> None:
    job = world.queued()
    ExportJob.objects.filter(id=job.id).update(attempt_count=attempts)
    worker = WorkerProcess(waking.drain, using="worker")
    WakeUp(job.id, waking.message.settle, worker).run()
    assert now(job).claimed_by == worker.worker_id


@pytest.mark.parametrize("point", ["claim.before", "build.before"])
def test_a_child_that_dies_leaves_the_message_as_the_row_stands(
    point: str, world: World, waking: Waking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPORT_CRASH_POINTS", f"{point}=kill")
    job = suspicious(world)
    message = Message()

    disposition = run_alone(job.id, message.settle, waking.drain)

    claimed = now(job).status == Status.RUNNING
    assert claimed is (point == "build.before")
    assert disposition is (Disposition.SETTLED if claimed else Disposition.UNSETTLED)
    assert message.settled == int(claimed)


def test_a_shutdown_is_passed_on_and_the_child_drains_by_the_same_rules(
    world: World, waking: Waking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPORT_DRAIN_SECONDS", "0.3")
    job = suspicious(world)
    with held_contacts():
        disposition = waking.call(lambda: run_alone(job.id, waking.message.settle, waking.drain))
        until(lambda: now(job).status == Status.RUNNING)
        waking.drain.begin()
        assert disposition.result() is Disposition.SETTLED

    assert kinds(job) == ["Claimed"]
    assert lease_is_over(job)


def test_the_kernel_is_offered_the_child_first(world: World, waking: Waking) -> None:
    job = suspicious(world)
    with held_contacts() as contacts:
        disposition = waking.call(lambda: run_alone(job.id, waking.message.settle, waking.drain))
        until(lambda: now(job).status == Status.RUNNING)
        (child,) = children()
        with open(f"/proc/{child.pid}/oom_score_adj", encoding="ascii") as score:  # noqa: PTH123 - of the kernel
            assert score.read().strip() == "1000"
        contacts.commit()
        disposition.result()


def test_a_broker_that_cannot_settle_leaves_no_child_behind(world: World, waking: Waking) -> None:
    job = suspicious(world)

    def settle() -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        run_alone(job.id, settle, waking.drain)

    assert children() == []
    assert now(job).status == Status.COMPLETED
