"""The product's Celery application with its broker elsewhere: behind a relay, with short waits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from celery import Celery

from config.celery import app, configure

if TYPE_CHECKING:
    from collections.abc import Iterator

SOCKET_SECONDS = 0.3
"""Bound on one answer of the broker; production's is five seconds."""


@contextmanager
def publishing_to(url: str) -> Iterator[None]:
    """Let whatever this process publishes go to this broker."""
    other = Celery("contact-exports elsewhere", set_as_current=False)
    waits = {"socket_timeout": SOCKET_SECONDS, "socket_connect_timeout": SOCKET_SECONDS}
    told = configure()
    other.conf.update(told | {"broker_url": url, "broker_transport_options": told["broker_transport_options"] | waits})
    other.set_current()
    try:
        yield
    finally:
        other.close()
        app.set_current()
