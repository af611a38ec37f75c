"""RabbitMQ: a wake-up is marked as published only when the node has said that it keeps it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from kombu.exceptions import OperationalError

from exports import crashpoints, dispatcher
from exports.models import OutboxMessage
from tests.broker.amqp_wire import EXPORTS, SHORT_SECONDS, publishing_to, waiting_ids
from tests.faults.processes import behind
from tests.faults.relay import Doors, Relay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celery import Celery

    from tests.faults.world import World
    from tests.rabbit import Rabbit

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"])


@pytest.fixture
def relay(rabbit: Rabbit) -> Iterator[Relay]:
    """Stand before the node."""
    rabbit.empty()
    with Relay("127.0.0.1", rabbit.port) as standing:
        yield standing


@pytest.fixture
def publisher(relay: Relay, rabbit: Rabbit, settings: Any) -> Iterator[Celery]:
    """Let this process publish to the node, with short waits."""
    settings.EXPORTS = replace(settings.EXPORTS, broker_timeout_seconds=SHORT_SECONDS)
    with publishing_to(behind(relay, rabbit.url()), settings) as other:
        yield other


def dispatch(limit: int = 10) -> int:
    return dispatcher.run_once(limit, "dispatcher").published


def unpublished() -> set[str]:
    waiting = OutboxMessage.objects.filter(published_at=None)
    return {str(message_id) for message_id in waiting.values_list("message_id", flat=True)}


def test_every_wake_up_is_in_the_nodes_queue_under_its_own_id_before_it_is_marked(
    world: World, publisher: Celery
) -> None:
    for _ in range(7):
        world.queued()
    waiting = unpublished()

    assert [dispatch(3), dispatch(3), dispatch(3), dispatch(3)] == [3, 3, 1, 0]

    assert sorted(waiting_ids(publisher)) == sorted(waiting)
    assert unpublished() == set()


def test_a_message_that_no_queue_takes_is_not_marked_and_published_again_when_there_is_one(
    world: World, publisher: Celery, rabbit: Rabbit
) -> None:
    world.queued()
    assert dispatch() == 1
    rabbit.delete(EXPORTS)  # the node would now throw everything away without a word
    world.queued()
    waiting = unpublished()

    with pytest.raises(dispatcher.UNREACHABLE):
        dispatch()

    assert unpublished() == waiting
    assert dispatch() == 1  # a new connection makes the queue again
    assert waiting_ids(publisher) == list(waiting)


@pytest.mark.parametrize("doors", [Doors.CLOSED, Doors.RESET, Doors.SILENT])
def test_a_node_that_is_away_leaves_every_wake_up_unpublished_for_the_next_try(
    doors: Doors, world: World, publisher: Celery, relay: Relay
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
    assert waiting_ids(publisher) == list(waiting)


def test_a_confirmation_that_does_not_come_marks_nothing_and_the_next_batch_is_not_taken_for_confirmed_by_it(
    world: World, publisher: Celery, relay: Relay
) -> None:
    world.queued()
    assert dispatch() == 1
    world.queued()
    waiting = unpublished()
    crashpoints.arm("dispatch.publish.before", relay.mute)  # the line stays open, and no answer comes
    try:
        with pytest.raises(OperationalError, match="not confirmed"):
            dispatch()
    finally:
        crashpoints.disarm("dispatch.publish.before")
    assert unpublished() == waiting

    relay.cut()
    assert dispatch() == 1
    # Published twice under one id, since nobody could know: harmless.
    assert waiting <= set(waiting_ids(publisher))
    assert unpublished() == set()


def test_a_node_that_is_out_of_memory_takes_nothing_and_nothing_is_marked(
    world: World, publisher: Celery, rabbit: Rabbit
) -> None:
    world.queued()
    assert dispatch() == 1
    rabbit.ask("eval", "rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []}).")
    try:
        world.queued()
        waiting = unpublished()
        with pytest.raises(dispatcher.UNREACHABLE):
            dispatch()
        assert unpublished() == waiting
    finally:
        rabbit.ask("eval", "rabbit_alarm:clear_alarm({resource_limit, memory, node()}).")
    assert dispatch() == 1
    assert waiting <= set(waiting_ids(publisher))
