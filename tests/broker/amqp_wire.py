"""The product's Celery application publishing to a RabbitMQ, and what then stands in its queues."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from celery import Celery

from config.celery import app, configure

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPORTS = "exports"
SHORT_SECONDS = 1.0
"""Bound on one answer of the node; production's is five seconds."""


@contextmanager
def publishing_to(url: str, settings: Any) -> Iterator[Celery]:
    """Let whatever this process publishes go to this node, told what a process of production is told."""
    settings.CELERY_BROKER_URL = url
    other = Celery("contact-exports on RabbitMQ", set_as_current=False)
    other.conf.update(configure())
    other.set_current()
    try:
        yield other
    finally:
        other.close()
        app.set_current()


def waiting_ids(publisher: Celery) -> list[str]:
    """Take every waiting message of the exports queue for good; return their ids."""
    ids = []
    with publisher.connection_for_read() as connection:
        channel: Any = connection.channel()
        while (message := channel.basic_get(EXPORTS)) is not None:
            ids.append(message.headers["id"])
            channel.basic_ack(message.delivery_tag)
    return ids
