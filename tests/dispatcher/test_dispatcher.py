"""From the outbox to the broker, whatever the broker and the database do: never skipped, never marked unpublished."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.db import DatabaseError, connections

from exports import dispatcher, sweeper
from exports.models import ExportJob, OutboxMessage
from exports.sql import STATEMENTS
from exports.states import Status
from tests.broker.wire import queued
from tests.dispatcher.celeries import publishing_to
from tests.faults.processes import behind
from tests.faults.relay import Doors, Relay
from tests.faults.waking import standing_at
from tests.faults.world import BY, now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import redis

    from config.devstack.stack import Stack
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"])


@pytest.fixture
def relay(stack: Stack) -> Iterator[Relay]:
    """Stand before the broker, and let this process publish through it."""
    with Relay("127.0.0.1", stack.broker.port) as standing, publishing_to(behind(standing, stack.broker.url())):
        yield standing


def dispatch(limit: int = 10) -> int:
    return dispatcher.run_once(limit, "dispatcher").published


def unpublished() -> set[uuid.UUID]:
    waiting = OutboxMessage.objects.filter(published_at=None)
    return set(waiting.values_list("message_id", flat=True))


def ids(broker: redis.Redis) -> list[uuid.UUID]:
    return [message.message_id for message in queued(broker)]


def test_each_wake_up_is_published_under_its_outbox_rows_id_and_then_marked(
    world: World, empty_broker: redis.Redis
) -> None:
    jobs = [world.queued() for _ in range(3)]
    rows = {row.message_id: row.job_id for row in OutboxMessage.objects.all()}

    assert dispatch() == 3

    assert {message.message_id: message.job_id for message in queued(empty_broker)} == rows
    assert set(rows.values()) == {job.id for job in jobs}
    assert unpublished() == set()
    assert dispatch() == 0


def test_a_batch_is_bounded_and_the_rest_follows(world: World, empty_broker: redis.Redis) -> None:
    for _ in range(5):
        world.queued()

    assert [dispatch(2), dispatch(2), dispatch(2), dispatch(2)] == [2, 2, 1, 0]
    assert len(set(ids(empty_broker))) == 5


@pytest.mark.parametrize("doors", [Doors.CLOSED, Doors.RESET, Doors.SILENT])
def test_a_broker_that_is_down_leaves_every_wake_up_unpublished_for_the_next_try(
    doors: Doors, world: World, relay: Relay, empty_broker: redis.Redis
) -> None:
    world.queued()
    waiting = unpublished()
    relay.set_doors(doors)
    relay.cut()
    with pytest.raises(dispatcher.UNREACHABLE):
        dispatch()
    assert unpublished() == waiting

    relay.set_doors(Doors.OPEN)
    assert dispatch() == 1
    assert set(ids(empty_broker)) == waiting
    assert unpublished() == set()


def test_a_broker_too_slow_to_answer_is_published_to_again_under_the_same_ids(
    world: World, relay: Relay, empty_broker: redis.Redis
) -> None:
    world.queued()
    assert dispatch() == 1
    job = world.queued()
    waiting = unpublished()
    relay.mute()  # the line stays open, and no answer comes
    with pytest.raises(dispatcher.UNREACHABLE):
        dispatch()
    assert unpublished() == waiting

    relay.cut()
    assert dispatch() == 1
    assert [message.job_id for message in queued(empty_broker)].count(job.id) == 1


def test_a_publish_whose_answer_was_lost_is_a_duplicate_with_the_same_id_and_the_job_runs_once(
    world: World, relay: Relay, empty_broker: redis.Redis, waking: Waking
) -> None:
    job = world.queued()
    (message_id,) = unpublished()
    assert dispatch() == 1
    OutboxMessage.objects.filter(message_id=message_id).update(published_at=None)  # as if the mark had been lost

    assert dispatch() == 1

    assert ids(empty_broker) == [message_id, message_id]
    waking.run(job)
    waking.run(job)
    assert now(job).attempt_count == 1
    assert now(job).status == Status.COMPLETED
    del relay


def test_a_broker_that_accepts_and_forgets_is_made_good_by_the_sweeper(
    world: World, empty_broker: redis.Redis, waking: Waking
) -> None:
    job = world.queued()
    assert dispatch() == 1
    empty_broker.flushdb()
    assert dispatch() == 0  # it was told that the message arrived

    with connections["default"].cursor() as cursor:
        cursor.execute("UPDATE export_jobs SET woken_at = woken_at - interval '1 day'")
    assert sweeper.run_once(10, time_budget_seconds=10, using="worker").woken == 1
    assert dispatch() == 1
    assert [message.job_id for message in queued(empty_broker)] == [job.id]
    waking.run(job)
    assert now(job).status == Status.COMPLETED


def test_two_dispatchers_at_once_publish_each_wake_up_once(
    world: World, empty_broker: redis.Redis, waking: Waking
) -> None:
    for _ in range(4):
        world.queued()
    with standing_at("dispatch.publish.before") as first:
        one = waking.call(lambda: dispatch(2), using="dispatcher")
        first.wait()  # it holds its rows
        other = dispatch(10)
        first.let_go()
        assert (one.result(), other) == (2, 2)

    assert len(ids(empty_broker)) == len(set(ids(empty_broker))) == 4
    assert unpublished() == set()


def test_a_wake_up_that_commits_late_with_an_earlier_time_is_not_skipped(
    world: World, empty_broker: redis.Redis
) -> None:
    late_id = uuid.uuid4()
    with psycopg.connect(**connections["api"].get_connection_params()) as late:
        late.execute(STATEMENTS["create_export"].text, a_creation(world, late_id))
        job = world.queued()  # later by its time, earlier by its commit
        assert dispatch() == 1
        assert [message.job_id for message in queued(empty_broker)] == [job.id]
        late.commit()

    assert dispatch() == 1
    assert {message.job_id for message in queued(empty_broker)} == {job.id, late_id}
    assert ExportJob.objects.get(id=late_id).created_at < ExportJob.objects.get(id=job.id).created_at


def a_creation(world: World, job_id: uuid.UUID) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "tenant_id": world.tenant.id,
        "destination_id": world.destination.id,
        "delivery_key": "late",
        "created_by": BY,
    }


@pytest.mark.parametrize("point", ["dispatch.publish.before", "dispatch.publish.after", "dispatch.commit.before"])
def test_a_database_session_ended_while_dispatching_marks_nothing_and_publishes_again(
    point: str, world: World, empty_broker: redis.Redis, waking: Waking, admin: psycopg.Connection[Any]
) -> None:
    world.queued()
    waiting = unpublished()
    with standing_at(point) as stand:
        lost = waking.call(dispatch, using="dispatcher")
        stand.wait()
        ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'exports_dispatcher'"
        assert set(admin.execute(ended).fetchall()) == {(True,)}
        stand.let_go()
        with pytest.raises(DatabaseError):
            lost.result()

    assert unpublished() == waiting
    assert dispatch() == 1
    assert set(ids(empty_broker)) == waiting
    assert len(ids(empty_broker)) == 2  # it noticed only when it came to mark what it had published
