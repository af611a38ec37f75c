"""A bird sent through beat, broker, queue and pool: where it arrives, somebody is listening.

Beat sends one to each queue that must be listened to, and whichever worker runs it stamps the queue's row. A
consumer that is deaf while broker and database are up stamps nothing, and the queue's row grows old.

A pool whose every slot is taken cannot run it and is not deaf: the worker's heartbeat then stamps the rows of its
queues, since nothing more could be started there anyway.
"""

from __future__ import annotations

from django.db import close_old_connections

from exports.observability.heartbeats import stamp
from exports.observability.names import BEAT, QUEUES, row_of


def arrive(queue: str) -> None:
    """Stamp the queue and beat, which sent it; database errors pass through and are the next one's to make good."""
    if queue not in QUEUES:
        return  # a message is from anybody who can reach the broker; no row is made in its name
    close_old_connections()
    stamp({row_of(queue), BEAT})
