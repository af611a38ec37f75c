"""The broker only wakes: publishing a batch of wake-ups, and settling one message.

The one place beside config.celery and the task modules that knows Celery's insides; contract tests hold what it
relies on. The broker may lose, repeat, delay or reorder anything here without harm (I5).
"""

from __future__ import annotations

import logging
import random
import threading
from typing import TYPE_CHECKING, Any

from amqp.exceptions import AMQPError
from celery import Task, current_app
from celery.exceptions import Reject
from celery.worker.request import Request
from celery.worker.state import active_requests
from redis.exceptions import RedisError
from structlog.contextvars import bound_contextvars

from exports.confirms import confirmed
from exports.disposition import Disposition
from exports.observability import counters, names
from exports.worker.drain import Drain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exports.managers.queue import WakeUp

logger = logging.getLogger(__name__)

EXPORTS_QUEUE = "exports"
RUN_EXPORT = "exports.run_export"
CANARY = "exports.canary"
CONNECTION_ERRORS: tuple[type[Exception], ...] = (AMQPError, RedisError)
"""What a broker that is down shows where kombu does not translate it."""
REDELIVERY_PAUSE_SECONDS = (1.0, 5.0)
"""Before an unsettled message goes back: without it a database outage would spin 260 times a second."""

process_drain = Drain()
"""This process's way out; begun by the first shutdown signal."""
_in_this_thread = threading.local()


class SettlingRequest(Request):
    """Hands its own message to the pool thread that runs it.

    After a redelivery two requests share an id, so the exact one is kept here rather than looked up.
    """

    def on_accepted(self, pid: Any, time_accepted: float) -> None:
        """Remember this request in the pool thread, just before the task's body runs there."""
        _in_this_thread.request = self
        super().on_accepted(pid, time_accepted)


class WakeUpTask(Task[..., None]):
    """A task whose message is settled by the work itself, right after the confirmed claim."""

    Request = SettlingRequest  # type: ignore[assignment] # a class is as good as its path
    acks_late = True
    ignore_result = True
    typing = True


def handle(work: Callable[[Callable[[], None]], Disposition]) -> None:
    """Run `work(settle)` for the message of this thread; anything unsettled is delivered again after a pause.

    Under acks_late an ordinary exception would acknowledge, and so lose, the message: before settlement every
    exception becomes a pause and a Reject; afterwards the row carries the work, and it is only logged.
    """
    request = _in_this_thread.request
    with bound_contextvars(message_id=request.id):
        _handle(work, request)


def _handle(work: Callable[[Callable[[], None]], Disposition], request: SettlingRequest) -> None:
    try:
        disposition = work(request.acknowledge)
    except Exception:
        logger.exception("wake_up_failed", extra={"settled": request.acknowledged})
        disposition = Disposition.UNSETTLED
    if disposition is Disposition.UNSETTLED and not request.acknowledged:
        counters.unsettled.inc()
        _pause()
        raise Reject("not settled", requeue=True)


def _pause() -> None:
    """Wait a jittered moment, or until this process is told to go."""
    process_drain.wait_begun(random.uniform(*REDELIVERY_PAUSE_SECONDS))  # noqa: S311 - jitter, not a secret


def queues_of(consumer: Any) -> tuple[str, ...]:
    """Return the names of the queues that this worker process takes from."""
    return tuple(sorted(consumer.app.amqp.queues.consume_from))


def is_full(consumer: Any) -> bool:
    """Whether every slot of this worker process is taken, so that it can start nothing more."""
    return bool(len(active_requests) >= consumer.pool.limit)


def waiting(producer: Any) -> int:
    """Return how many wake-ups lie in the broker's queue that no worker has taken; any transport answers this.

    The queue is declared first, as publishing would: asking RabbitMQ for one that is not there closes the channel.
    Redis has none while it is empty.
    """
    producer.maybe_declare(current_app.amqp.queues[EXPORTS_QUEUE])
    try:
        return int(producer.channel.queue_declare(queue=EXPORTS_QUEUE, passive=True).message_count)
    except producer.connection.channel_errors:
        return 0


def publish(wake_ups: Sequence[WakeUp], producer: Any) -> None:
    """Publish wake-ups in one batch.

    Returns only when the broker has accepted all of them; any exception means that each may or may not have
    arrived, so none may be marked. A message's id is its outbox row's.
    """
    producer.maybe_declare(current_app.amqp.queues[EXPORTS_QUEUE])
    with confirmed(producer, len(wake_ups)):
        for message_id, job_id, _ in wake_ups:
            # Past send_task, which declares the queue and asks its signals for each message: twice as fast.
            message = _message(str(message_id), str(job_id))
            producer.publish(
                message.body,
                exchange="",
                routing_key=EXPORTS_QUEUE,
                serializer="json",
                headers=message.headers,
                retry=False,
                mandatory=True,  # a message without a queue comes back instead of vanishing
                **message.properties,
            )


def _message(message_id: str, job_id: str) -> Any:
    """Return the task's message, its name as text: a dispatcher needs no worker code, no SSH library, in its memory."""
    arguments = (job_id,)
    return current_app.amqp.as_task_v2(
        message_id, RUN_EXPORT, args=arguments, argsrepr=repr(arguments), kwargsrepr=repr({})
    )


def publish_canary() -> None:
    """Publish the dispatcher's canary on the way of the wake-ups; returns when the broker has accepted it."""
    with open_producer() as producer, confirmed(producer, 1):
        current_app.send_task(
            CANARY,
            args=(names.WAKE_UPS,),
            queue=EXPORTS_QUEUE,
            producer=producer,
            retry=False,
            mandatory=True,
            expires=names.CANARY_KEPT_SECONDS,
        )


def open_producer() -> Any:
    """Return a context manager giving a producer on a connection of its own, with bounded socket waits."""
    return current_app.producer_pool.acquire(block=True, timeout=5)


def hang_up() -> None:
    """Forget every connection for publishing: after an error a channel may be closed, or its stream torn."""
    pools: tuple[Any, ...] = (current_app.producer_pool, current_app.pool)
    for pool in pools:
        pool.force_close_all(close_pool=False)
        pool.setup()  # an emptied pool is waited for without a bound
