"""`manage.py dispatch_outbox` as it runs in a deployment: through outages of both sides, and until SIGTERM."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from exports.models import OutboxMessage
from tests.broker.wire import queued
from tests.faults.observing import until
from tests.faults.processes import a_dispatcher, behind, worker_environment
from tests.faults.relay import Doors, Relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import redis

    from config.devstack.stack import Stack
    from tests.faults.processes import Process
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]


@pytest.fixture
def relay(stack: Stack) -> Iterator[Relay]:
    """Stand between the dispatcher and the broker."""
    with Relay("127.0.0.1", stack.broker.port) as standing:
        yield standing


@pytest.fixture
def dispatching(stack: Stack, spool: Path, relay: Relay, proxy: WireProxy) -> Iterator[Process]:
    """Run the dispatcher with both its lines through the tests' hands."""
    environment = worker_environment(stack.broker.url(), spool, "dispatcher")
    environment["BROKER_URL"] = behind(relay, environment["BROKER_URL"])
    environment["DISPATCHER_DATABASE_URL"] = behind(proxy, environment["DISPATCHER_DATABASE_URL"])
    with a_dispatcher(environment, spool.parent / "dispatcher.log") as process:
        yield process


def all_published() -> bool:
    return not OutboxMessage.objects.filter(published_at=None).exists()


@pytest.mark.parametrize("doors", [Doors.CLOSED, Doors.RESET])
def test_an_outage_of_the_broker_is_waited_out(
    doors: Doors, dispatching: Process, relay: Relay, world: World, empty_broker: redis.Redis
) -> None:
    world.queued()
    until(all_published)
    relay.set_doors(doors)
    relay.cut()
    job = world.queued()
    dispatching.wait_for("dispatching_waits")
    assert not all_published()

    relay.set_doors(Doors.OPEN)
    until(all_published)
    assert dispatching.is_running
    assert job.id in {message.job_id for message in queued(empty_broker)}


@pytest.mark.parametrize("doors", [Doors.CLOSED, Doors.RESET])
def test_an_outage_of_the_database_is_waited_out(
    doors: Doors, dispatching: Process, proxy: WireProxy, world: World, empty_broker: redis.Redis
) -> None:
    world.queued()
    until(all_published)
    proxy.set_doors(doors)
    proxy.cut()
    job = world.queued()
    dispatching.wait_for("dispatching_waits")
    assert not all_published()

    proxy.set_doors(Doors.OPEN)
    until(all_published)
    assert job.id in {message.job_id for message in queued(empty_broker)}


def test_a_signal_ends_it_with_success_after_the_batch_in_hand_and_a_second_one_changes_nothing(
    dispatching: Process, world: World
) -> None:
    world.queued()
    until(all_published)
    dispatching.send(signal.SIGTERM)
    if dispatching.is_running:
        dispatching.send(signal.SIGTERM)
    assert dispatching.wait() == 0


def test_one_killed_between_publishing_and_marking_only_publishes_again(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis
) -> None:
    world.queued()
    environment = worker_environment(
        stack.broker.url(), spool, "dispatcher", EXPORT_CRASH_POINTS="dispatch.publish.after=kill"
    )
    with a_dispatcher(environment, spool.parent / "killed.log") as process:
        assert process.wait(60) == -signal.SIGKILL
    assert not all_published()

    again = worker_environment(stack.broker.url(), spool, "dispatcher")
    with a_dispatcher(again, spool.parent / "again.log"):
        until(all_published)
    one, other = queued(empty_broker)
    assert one.message_id == other.message_id
