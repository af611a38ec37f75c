"""A deploy, as it comes to real worker processes: SIGTERM, the bound, exit 0, and the next worker."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from exports import dispatcher
from exports.models import ExportAttemptEvent
from exports.states import Status
from reconciliation import recovery
from tests.broker.wire import held_by
from tests.faults.observing import held_contacts, until
from tests.faults.processes import a_worker, worker_environment
from tests.faults.world import kinds, lease_is_over, lease_of, now

if TYPE_CHECKING:
    from datetime import timedelta

    import redis

    from config.devstack.stack import Stack
    from exports.models import ExportJob
    from tests.faults.processes import Process
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("audited"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]


def dispatch() -> None:
    dispatcher.run_once(100, "dispatcher")


def is_running(job: ExportJob) -> bool:
    return now(job).status == Status.RUNNING


def test_a_build_goes_on_after_sigterm_and_a_second_one_changes_nothing(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    del empty_broker
    job = world.queued()
    dispatch()
    with a_worker(worker_environment(stack.broker.url(), spool), spool.parent / "worker.log") as worker:
        with held_contacts():
            until(lambda: is_running(job))
            worker.send(signal.SIGTERM)
            worker.send(signal.SIGTERM)
            late = world.queued()
            dispatch()
            renewed = lease_of(job)
            until(lambda: lease_of(job) > renewed)  # it keeps its lease through the drain
        assert worker.wait() == 0

    assert now(job).status == Status.COMPLETED
    assert now(late).status == Status.QUEUED


def test_at_the_bound_the_attempt_is_given_back_and_waiting_messages_are_not_lost(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    jobs = [world.queued() for _ in range(3)]
    dispatch()
    environment = worker_environment(stack.broker.url(), spool, EXPORT_DRAIN_SECONDS="0.5")
    with held_contacts(), a_worker(environment, spool.parent / "worker.log", slots=1) as worker:
        until(lambda: any(map(is_running, jobs)))
        (building,) = filter(is_running, jobs)
        worker.send(signal.SIGTERM)
        assert worker.wait() == 0

    assert kinds(building) == ["Claimed"]
    assert lease_is_over(building)
    assert list(spool.iterdir()) == []
    others = {job.id for job in jobs} - {building.id}
    assert {message.job_id for message in held_by(empty_broker)} == others


def test_three_workers_restarted_in_turn_during_one_build_burn_no_attempt(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    del empty_broker
    job = world.queued()
    told = {"EXPORT_DRAIN_SECONDS": "0.5", "EXPORT_MAX_ATTEMPTS": "1"}
    environment = worker_environment(stack.broker.url(), spool, **told)
    with held_contacts() as contacts:
        for number in range(3):
            dispatch()
            with a_worker(environment, spool.parent / f"worker{number}.log") as worker:
                until(lambda: is_running(job) and not lease_is_over(job))
                worker.send(signal.SIGTERM)
                assert worker.wait() == 0
            assert recovery.run_once(10, time_budget_seconds=10, using="worker").requeued == 1
        dispatch()
        with a_worker(environment, spool.parent / "last.log"):
            until(lambda: is_running(job))
            contacts.commit()
            until(lambda: now(job).status == Status.COMPLETED)

    requeued = ExportAttemptEvent.objects.filter(job_id=job.id, kind="RequeuedByRecovery")
    assert [event.detail for event in requeued] == ["returned"] * 3
    assert now(job).attempt_count == 4
    assert world.arrived() == [world.final(job).name]


BUILD_SECONDS = 60.0
MINUTE_LONG = {
    "EXPORT_SOURCE": "tests.faults.sources.Slow",
    "EXPORT_DRAIN_SECONDS": "1",
    "EXPORT_MAX_ATTEMPTS": "1",
}
"""A cap of one: a single attempt that counted would be the last."""


@pytest.mark.soak
def test_three_workers_restarted_in_turn_during_a_build_of_a_minute_burn_no_attempt(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    del empty_broker
    job = world.queued()
    environment = worker_environment(stack.broker.url(), spool, **MINUTE_LONG)
    with ExitStack() as processes:

        def another(name: str) -> Process:
            return processes.enter_context(a_worker(environment, spool.parent / f"{name}.log"))

        workers = [another(f"old{number}") for number in range(3)]
        for number in range(3):
            dispatch()
            until(lambda: is_running(job) and not lease_is_over(job))
            builds_it = next(worker for worker in workers if worker.pid in family_of_its_claim(job))
            builds_it.send(signal.SIGTERM)
            assert builds_it.wait() == 0
            workers[workers.index(builds_it)] = another(f"new{number}")
            assert recovery.run_once(10, time_budget_seconds=10, using="worker").requeued == 1
        dispatch()
        until(lambda: now(job).status == Status.COMPLETED, 3 * BUILD_SECONDS)

    requeued = ExportAttemptEvent.objects.filter(job_id=job.id, kind="RequeuedByRecovery")
    assert [event.detail for event in requeued] == ["returned"] * 3
    assert (now(job).attempt_count, len(set(kinds(job)))) == (4, 4)
    assert seconds_of_last_build(job) >= BUILD_SECONDS
    assert world.arrived() == [world.final(job).name]


def family_of_its_claim(job: ExportJob) -> set[int]:
    """Return the process that claimed it, and its parent: after two attempts it is built alone, in a child."""
    pid = int(str(now(job).claimed_by).split(":")[1])
    return {pid, int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[1])}


def seconds_of_last_build(job: ExportJob) -> float:
    """Return what lay between the last claim and cutoff 2, by the database's clock."""
    events = ExportAttemptEvent.objects.filter(job_id=job.id).order_by("id")
    claimed, authorized = events.filter(kind="Claimed").last(), events.get(kind="DeliveryAuthorized")
    assert claimed is not None
    took: timedelta = authorized.recorded_at - claimed.recorded_at
    return took.total_seconds()
