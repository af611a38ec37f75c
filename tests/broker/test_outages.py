"""A worker whose broker is away: at its start, in the middle, and when it is told to go."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from config.celery import configure
from exports import boundary, broker, dispatcher, waits
from exports.roles import DEFAULTS
from exports.states import Role, Status
from exports.worker.writes import CLAIM_TRY_SECONDS
from tests.faults.observing import held_contacts
from tests.faults.processes import a_worker, behind, worker_environment
from tests.faults.relay import Doors, Relay
from tests.faults.world import now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from config.devstack.stack import Stack
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]


@pytest.fixture
def relay(stack: Stack) -> Iterator[Relay]:
    """Stand between the worker and the broker."""
    with Relay("127.0.0.1", stack.broker.port) as standing:
        yield standing


def test_a_worker_started_before_its_broker_begins_to_work_when_it_comes(
    stack: Stack, spool: Path, world: World, relay: Relay
) -> None:
    relay.set_doors(Doors.RESET)
    environment = worker_environment(behind(relay, stack.broker.url()), spool)
    job = world.queued()
    dispatcher.run_once(10, "dispatcher")
    with a_worker(environment, spool.parent / "worker.log", wait=False) as worker:
        worker.until(lambda: relay.accepted >= 2)
        assert now(job).status == Status.QUEUED
        relay.set_doors(Doors.OPEN)
        worker.until(lambda: now(job).status == Status.COMPLETED)


def test_a_worker_told_to_go_while_its_broker_is_away_finishes_its_build_and_ends(
    stack: Stack, spool: Path, world: World, relay: Relay
) -> None:
    job = world.queued()
    dispatcher.run_once(10, "dispatcher")
    environment = worker_environment(behind(relay, stack.broker.url()), spool)
    with a_worker(environment, spool.parent / "worker.log") as worker:
        with held_contacts():
            worker.until(lambda: now(job).status == Status.RUNNING)
            relay.set_doors(Doors.RESET)
            relay.cut()
            tried = relay.accepted
            worker.until(lambda: relay.accepted > tried)
            worker.send(signal.SIGTERM)
        worker.until(lambda: now(job).status == Status.COMPLETED)
        assert worker.wait() == 0


def test_no_unsettled_message_is_delivered_again_while_its_worker_may_still_settle_it() -> None:
    statement = float(DEFAULTS[Role.WORKER]["statement_timeout"].removesuffix("s"))
    one_answer = statement + waits.ANSWER_SECONDS
    longest_claim = CLAIM_TRY_SECONDS + one_answer + boundary.REREAD_SECONDS + one_answer
    pause = broker.REDELIVERY_PAUSE_SECONDS[1]
    options = configure()["broker_transport_options"]
    assert options["visibility_timeout"] > longest_claim + pause
