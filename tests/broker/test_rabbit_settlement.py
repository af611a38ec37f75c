"""RabbitMQ: settling, redelivery and reconnecting, by real worker processes against a real node."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from exports import dispatcher
from exports.states import Status
from tests.broker.amqp_wire import EXPORTS, publishing_to
from tests.faults.observing import held_contacts, until
from tests.faults.processes import a_worker, behind, is_stopped, worker_environment
from tests.faults.relay import Doors, Relay
from tests.faults.world import kinds, now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exports.models import ExportJob
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World
    from tests.rabbit import Rabbit

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("publishing"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

DELIVERED = ["Claimed", "DeliveryAuthorized", "Finished"]
BUSY_SECONDS = 60.0
"""Questions to the node take seconds each on a busy machine."""


@pytest.fixture
def publishing(rabbit: Rabbit, settings: Any) -> Iterator[None]:
    """Let this process dispatch to the node, which holds no message when the test begins."""
    rabbit.empty()
    with publishing_to(rabbit.url(), settings):
        yield


def woken(world: World) -> ExportJob:
    """Return an export whose wake-up is at the node."""
    job = world.queued()
    until(dispatched, BUSY_SECONDS)
    return job


def dispatched() -> bool:
    """Dispatch as the dispatcher does, which tries again when the node was away."""
    try:
        return dispatcher.run_once(10, "dispatcher").published == 1
    except dispatcher.UNREACHABLE:
        return False


def exports_of(rabbit: Rabbit) -> tuple[int, int]:
    """Return how many messages of the exports queue wait, and how many are taken and not settled."""
    return rabbit.counts().get(EXPORTS, (0, 0))


def test_a_message_is_unsettled_until_the_claim_is_confirmed_and_comes_back_from_a_worker_killed_there(
    rabbit: Rabbit, spool: Path, world: World
) -> None:
    environment = worker_environment(rabbit.url(), spool, EXPORT_CRASH_POINTS="settle.before=stop")
    with a_worker(environment, spool.parent / "worker.log") as worker:
        job = woken(world)
        until(lambda: is_stopped(worker.pid))
        assert now(job).status == Status.RUNNING
        until(lambda: exports_of(rabbit) == (0, 1), BUSY_SECONDS)
    until(lambda: exports_of(rabbit) == (1, 0), BUSY_SECONDS)  # at once: the node saw the line end

    with a_worker(worker_environment(rabbit.url(), spool), spool.parent / "next.log"):
        until(lambda: exports_of(rabbit) == (0, 0), BUSY_SECONDS)
    assert kinds(job) == ["Claimed"]  # it found the row Running, and recovery's


def test_settling_right_after_the_confirmed_claim_reaches_the_node_while_the_build_still_runs(
    rabbit: Rabbit, spool: Path, world: World
) -> None:
    with a_worker(worker_environment(rabbit.url(), spool), spool.parent / "worker.log") as worker, held_contacts():
        job = woken(world)
        until(lambda: now(job).status == Status.RUNNING)
        until(lambda: exports_of(rabbit) == (0, 0), BUSY_SECONDS)
        assert now(job).status == Status.RUNNING
        worker.send(signal.SIGKILL)
        worker.wait()
    assert exports_of(rabbit) == (0, 0)
    assert kinds(job) == ["Claimed"]


def test_a_wake_up_goes_back_as_often_as_the_database_is_away_and_is_never_given_up(
    rabbit: Rabbit, spool: Path, world: World, proxy: WireProxy
) -> None:
    environment = worker_environment(rabbit.url(), spool)
    environment["WORKER_DATABASE_URL"] = behind(proxy, environment["WORKER_DATABASE_URL"])
    with a_worker(environment, spool.parent / "worker.log", app="tests.broker.hasty"):
        proxy.set_doors(Doors.RESET)
        proxy.cut()
        tries = proxy.accepted
        job = woken(world)
        # RabbitMQ gives up a message after 20 deliveries unless its queue says otherwise.
        until(lambda: proxy.accepted >= tries + 30, BUSY_SECONDS)
        assert now(job).status == Status.QUEUED

        proxy.set_doors(Doors.OPEN)
        until(lambda: now(job).status == Status.COMPLETED, BUSY_SECONDS)
    assert kinds(job) == DELIVERED


@pytest.mark.parametrize("doors", [Doors.CLOSED, Doors.SILENT])
def test_a_worker_whose_node_was_away_sends_nothing_twice_and_goes_on_consuming(
    doors: Doors, rabbit: Rabbit, spool: Path, world: World
) -> None:
    with Relay("127.0.0.1", rabbit.port) as relay:
        environment = worker_environment(behind(relay, rabbit.url()), spool)
        with a_worker(environment, spool.parent / "worker.log"):
            with held_contacts():
                first = woken(world)
                until(lambda: now(first).status == Status.RUNNING)
                relay.set_doors(doors)
                relay.cut()
            until(lambda: now(first).status == Status.COMPLETED)
            relay.set_doors(Doors.OPEN)
            second = woken(world)
            until(lambda: now(second).status == Status.COMPLETED, BUSY_SECONDS)
    assert [now(job).attempt_count for job in (first, second)] == [1, 1]


def test_a_node_that_restarts_has_kept_what_waited_and_the_worker_finds_it_there(
    rabbit: Rabbit, spool: Path, world: World
) -> None:
    with a_worker(worker_environment(rabbit.url(), spool), spool.parent / "worker.log") as worker:
        rabbit.stop()
        worker.wait_for("consumer")
        rabbit.start_again()
        job = woken(world)
        until(lambda: now(job).status == Status.COMPLETED, BUSY_SECONDS)
    job = woken(world)
    rabbit.stop()
    rabbit.start_again()
    until(lambda: exports_of(rabbit) == (1, 0), BUSY_SECONDS)
    with a_worker(worker_environment(rabbit.url(), spool), spool.parent / "next.log"):
        until(lambda: now(job).status == Status.COMPLETED, BUSY_SECONDS)


def test_a_message_that_waits_longer_behind_full_slots_than_the_node_allows_costs_nothing(
    rabbit: Rabbit, spool: Path, world: World
) -> None:
    """The node closes the channel of who holds a message too long, half an hour unless told otherwise."""
    rabbit.ask("eval", "[application:set_env(rabbit, K, 2000) || K <- [consumer_timeout, channel_tick_interval]].")
    try:
        with a_worker(worker_environment(rabbit.url(), spool), spool.parent / "worker.log", slots=1) as worker:
            with held_contacts():
                first, second = woken(world), woken(world)
                until(lambda: now(first).status == Status.RUNNING)
                worker.until(lambda: "PRECONDITION_FAILED" in worker.said())
                assert now(second).status == Status.QUEUED
            until(lambda: now(first).status == now(second).status == Status.COMPLETED, BUSY_SECONDS)
    finally:
        undo = "application:set_env(rabbit, consumer_timeout, 1800000), application:set_env(rabbit, {}, 60000)."
        rabbit.ask("eval", undo.format("channel_tick_interval"))
    assert [now(job).attempt_count for job in (first, second)] == [1, 1]


def test_a_worker_told_to_go_gives_back_what_it_has_not_claimed(rabbit: Rabbit, spool: Path, world: World) -> None:
    with a_worker(worker_environment(rabbit.url(), spool), spool.parent / "worker.log", slots=1) as worker:
        with held_contacts():
            first, second = woken(world), woken(world)
            until(lambda: now(first).status == Status.RUNNING)
            until(lambda: exports_of(rabbit) == (0, 1), BUSY_SECONDS)
            worker.send(signal.SIGTERM)
            worker.wait_for("Warm shutdown")
        assert worker.wait() == 0
    assert (now(first).status, now(second).status) == (Status.COMPLETED, Status.QUEUED)
    until(lambda: exports_of(rabbit) == (1, 0), BUSY_SECONDS)
