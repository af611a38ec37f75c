"""What the worker relies on in Celery and the broker, held by a real worker process and the broker's own records."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from exports import dispatcher
from exports.models import OutboxMessage
from exports.states import Status
from tests.broker.wire import held_by, unsettled
from tests.faults.observing import held_contacts, until
from tests.faults.processes import a_worker, behind, is_stopped, worker_environment
from tests.faults.relay import Doors, Relay
from tests.faults.world import kinds, now

if TYPE_CHECKING:
    from pathlib import Path

    import redis

    from config.devstack.stack import Stack
    from exports.models import ExportJob
    from tests.faults.processes import Process
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

DELIVERED = ["Claimed", "DeliveryAuthorized", "Finished"]


def woken(world: World) -> ExportJob:
    """Return an export whose wake-up is at the broker."""
    job = world.queued()
    dispatcher.run_once(10, "dispatcher")
    return job


def stands(process: Process) -> None:
    """Wait until the process has stopped itself at its point."""
    until(lambda: is_stopped(process.pid))


def test_a_message_is_unsettled_until_the_claim_is_confirmed(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    environment = worker_environment(stack.broker.url(), spool, EXPORT_CRASH_POINTS="settle.before=stop")
    with a_worker(environment, spool.parent / "worker.log") as worker:
        job = woken(world)
        stands(worker)

        assert now(job).status == Status.RUNNING
        assert [message.job_id for message in unsettled(empty_broker)] == [job.id]


def test_settling_right_after_the_confirmed_claim_empties_the_brokers_unsettled_set(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    with a_worker(worker_environment(stack.broker.url(), spool), spool.parent / "worker.log"), held_contacts():
        job = woken(world)
        until(lambda: now(job).status == Status.RUNNING)

        # The whole build and upload are still to come, and the broker already holds nothing.
        until(lambda: not held_by(empty_broker))
        assert now(job).status == Status.RUNNING


@pytest.mark.parametrize("point", ["claim.before", "claim.after", "settle.before"])
def test_the_message_of_a_worker_killed_before_settlement_comes_back(
    point: str, stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    environment = worker_environment(stack.broker.url(), spool, EXPORT_CRASH_POINTS=f"{point}=kill")
    with a_worker(environment, spool.parent / "killed.log", app="tests.broker.impatient") as worker:
        job = woken(world)
        assert worker.wait() == -signal.SIGKILL
    assert [message.job_id for message in unsettled(empty_broker)] == [job.id]

    again = worker_environment(stack.broker.url(), spool)
    # Delivered again it either claims the job, or finds it Running and does nothing: recovery's case.
    expected = DELIVERED if point == "claim.before" else ["Claimed"]
    with a_worker(again, spool.parent / "next.log", app="tests.broker.impatient"):
        until(lambda: not held_by(empty_broker) and kinds(job) == expected)
    assert OutboxMessage.objects.filter(job_id=job.id).count() == 1


def test_the_message_of_a_worker_killed_after_settlement_does_not_come_back(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    environment = worker_environment(stack.broker.url(), spool)
    with a_worker(environment, spool.parent / "killed.log") as worker, held_contacts():
        job = woken(world)
        until(lambda: now(job).status == Status.RUNNING and not held_by(empty_broker))
        worker.send(signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL

    assert held_by(empty_broker) == []
    assert kinds(job) == ["Claimed"]  # the row carries it, and recovery finds it there


def test_a_wake_up_that_cannot_be_settled_goes_back_and_is_delivered_again(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis, proxy: WireProxy
) -> None:
    environment = worker_environment(stack.broker.url(), spool)
    environment["WORKER_DATABASE_URL"] = behind(proxy, environment["WORKER_DATABASE_URL"])
    with a_worker(environment, spool.parent / "worker.log"):
        proxy.set_doors(Doors.RESET)
        proxy.cut()
        tries = proxy.accepted
        job = woken(world)
        until(lambda: proxy.accepted >= tries + 2)  # refused, gone back, delivered again, refused again
        assert now(job).status == Status.QUEUED
        assert [message.job_id for message in held_by(empty_broker)] == [job.id]

        proxy.set_doors(Doors.OPEN)
        until(lambda: now(job).status == Status.COMPLETED)
    assert unsettled(empty_broker) == []
    assert now(job).attempt_count == 1


def test_a_broker_blip_sends_no_settled_message_again_and_the_worker_goes_on_consuming(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    with Relay("127.0.0.1", stack.broker.port) as relay:
        url = behind(relay, stack.broker.url())
        environment = worker_environment(url, spool, EXPORT_CRASH_POINTS="build.after=stop")
        with a_worker(environment, spool.parent / "worker.log") as worker:
            first = woken(world)
            stands(worker)
            relay.set_doors(Doors.CLOSED)
            relay.cut()
            worker.send(signal.SIGCONT)
            until(lambda: now(first).status == Status.COMPLETED)
            relay.set_doors(Doors.OPEN)
            second = woken(world)
            until(lambda: now(second).status == Status.COMPLETED)

    assert now(first).attempt_count == 1
    assert unsettled(empty_broker) == []
