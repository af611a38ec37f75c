"""Real processes: green when all are up, red when a live worker takes nothing from a queue, green while it is full."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.db import connections

from config.celery import app
from exports.observability import readiness
from exports.states import Status
from tests.faults.observing import held_contacts, until
from tests.faults.processes import Process, a_dispatcher, worker_environment
from tests.faults.world import now
from tests.observability.seeing import age_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from config.devstack.stack import Stack
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

QUIET = ("--without-gossip", "--without-mingle", "--loglevel", "INFO")


@contextmanager
def a_celery(environment: Mapping[str, str], log: Path, *told: str, ready: str) -> Iterator[Process]:
    process = Process([sys.executable, "-m", "celery", "-A", "config", "--quiet", *told], environment, log)
    try:
        process.wait_for(ready)
        yield process
    finally:
        process.end()


@contextmanager
def everything(stack: Stack, spool: Path, slots: int) -> Iterator[str]:
    """Run a worker on both queues, beat and the dispatcher; yield the worker's name."""
    worker = worker_environment(stack.broker.url(), spool)
    other = worker_environment(stack.broker.url(), spool, "dispatcher")
    name = f"{spool.parent.name}@here"
    told = ("worker", "-Q", "exports,maintenance", "-c", str(slots), "-n", name, *QUIET)
    with (
        a_celery(worker, spool.parent / "worker.log", *told, ready="ready."),
        a_celery(worker, spool.parent / "beat.log", "beat", "--pidfile=", "--loglevel", "INFO", ready="beat: Starting"),
        a_dispatcher(other, spool.parent / "dispatcher.log"),
    ):
        yield name


def red() -> set[str]:
    return {part.name for part in readiness.parts() if not part.is_well}


def test_a_worker_that_lives_and_takes_nothing_from_a_queue_turns_that_queue_red(
    stack: Stack, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Judged by the rhythm of the canary, not by production's patience with it: the test need not wait a minute.
    monkeypatch.setattr(readiness, "CANARY_SECONDS", 12.0)
    with everything(stack, spool, slots=2) as name:
        until(lambda: red() == set(), 40)

        app.control.cancel_consumer("maintenance", destination=[name])
        until(lambda: red() == {"maintenance"}, 40)
        app.control.add_consumer("maintenance", destination=[name])
        until(lambda: red() == set(), 40)


def test_a_dispatcher_that_cannot_take_from_the_outbox_turns_the_way_of_wake_ups_red_though_it_lives(
    stack: Stack, spool: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "CANARY_SECONDS", 12.0)
    with everything(stack, spool, slots=2):
        until(lambda: red() == set(), 40)

        with held_outbox():
            world.queued()
            until(lambda: "wake_ups" in red(), 40)
            assert red() <= {"wake_ups", "dispatcher"}
        until(lambda: red() == set(), 40)


@contextmanager
def held_outbox() -> Iterator[None]:
    """Let the dispatcher take nothing from the outbox: a right is missing after a release; writing goes on."""
    with closing(psycopg.connect(**connections["default"].get_connection_params())) as connection:
        connection.execute("REVOKE UPDATE (published_at) ON outbox FROM exports_dispatcher")
        connection.commit()
        try:
            yield
        finally:
            connection.execute("GRANT UPDATE (published_at) ON outbox TO exports_dispatcher")
            connection.commit()


def test_a_worker_whose_every_slot_is_taken_is_not_called_deaf(stack: Stack, spool: Path, world: World) -> None:
    with held_contacts() as holder, everything(stack, spool, slots=1):
        until(lambda: red() == set(), 40)
        job = world.queued()
        until(lambda: now(job).status == Status.RUNNING, 40)
        until(lambda: age_of("beat") > 11, 40)  # no canary has run for two rounds: the one slot is taken

        assert age_of("queue:exports") < 11
        assert age_of("wake_ups") < 11
        assert red() <= {"beat"}
        holder.commit()
        until(lambda: now(job).status == Status.COMPLETED, 40)
