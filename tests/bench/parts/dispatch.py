"""Wake-ups per second from the outbox to the broker, marked, against kombu publishing the same messages in a loop."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celery import current_app
from django.conf import settings
from kombu import Connection

from exports import broker, dispatcher
from exports.conf import limits
from tests.bench.figures import Figure, median, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench

ROWS = 5_000
ROUNDS = 5
MUST = 2.0

FILL = """
    INSERT INTO outbox (message_id, kind, job_id, created_at)
    SELECT gen_random_uuid(), 'ExportReady', gen_random_uuid(), clock_timestamp() FROM generate_series(1, %s)"""


def run(bench: Bench) -> Iterator[Figure]:
    """Yield how many times as fast as a plain loop the dispatcher publishes, reading and marking included."""
    settings.EXPORTS = replace(limits(), dispatch_depth=10 * ROWS)  # nobody takes them: the bound is not measured
    ours, theirs = [], []
    with Connection(bench.values["BROKER_URL"]) as connection:
        for _ in range(ROUNDS):
            ours.append(ROWS / _dispatched(bench))
            _purge(connection)
            theirs.append(ROWS / _looped(connection))
            _purge(connection)
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    words = f"{median(ours):,.0f} rows/s, kombu's loop {median(theirs):,.0f}; rounds {spread(ratios)}"
    yield Figure("outbox rows published", median(ratios), "of a kombu loop", at_least=MUST, beside=words)


def _dispatched(bench: Bench) -> float:
    """Publish and mark a full outbox; return seconds."""
    with bench.session() as owner:
        owner.execute(FILL, [ROWS])
    began, published, rounds = time.monotonic(), 0, dispatcher.Rounds()
    while (done := dispatcher.run_once(limits().dispatch_batch, "dispatcher", rounds).published) > 0:
        published += done
    assert published == ROWS
    return time.monotonic() - began


def _looped(connection: Connection) -> float:
    """Publish as many messages of the same form, one after the other; return seconds."""
    messages = [_message() for _ in range(ROWS)]
    producer = connection.Producer()
    began = time.monotonic()
    for message in messages:
        producer.publish(
            message.body,
            routing_key=broker.EXPORTS_QUEUE,
            serializer="json",
            headers=message.headers,
            **message.properties,
        )
    return time.monotonic() - began


def _message() -> Any:
    return current_app.amqp.as_task_v2(str(uuid.uuid4()), broker.RUN_EXPORT, args=(str(uuid.uuid4()),))


def _purge(connection: Connection) -> None:
    connection.SimpleQueue(broker.EXPORTS_QUEUE).clear()
