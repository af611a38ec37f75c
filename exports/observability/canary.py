"""Birds sent ahead: where one arrives, somebody is listening.

Beat sends one to each queue that must be listened to, and whichever worker runs it stamps the queue's row. A
consumer that is deaf while broker and database are up stamps nothing, and the queue's row grows old.

Each also writes a row that asks the dispatcher for a canary of its own. The dispatcher finds it committed, as it finds
the outbox's rows, at the end of a round that took and published what there was, and publishes the canary to the queue
of the wake-ups by the same means; where that one arrives, a wake-up would have. It is not an outbox row itself: each of
those is a wake-up for one export.

A pool whose every slot is taken cannot run it and is not deaf: the worker's heartbeat then stamps the rows of its
queues, since nothing more could be started there anyway.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from django.db import close_old_connections, connections

from exports.models import ProcessHeartbeat
from exports.observability.heartbeats import stamp
from exports.observability.names import ASKED, BEAT, CANARY_EVERY_SECONDS, QUEUES, WAKE_UPS, row_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

logger = logging.getLogger(__name__)


def arrive(queue: str) -> None:
    """Stamp the queue and beat, which sent it; database errors pass through and are the next one's to make good."""
    if queue not in {*QUEUES, WAKE_UPS}:
        return  # a message is from anybody who can reach the broker; no row is made in its name
    close_old_connections()
    stamp({WAKE_UPS} if queue == WAKE_UPS else {row_of(queue), BEAT, ASKED})


class Forwarder:
    """Sends the dispatcher's canary when one was asked for: called whenever its loop has come round.

    It ends no loop: what keeps a canary from being sent shows by its not arriving.
    """

    def __init__(self, publish: Callable[[], None], using: str = "default") -> None:
        self._publish = publish
        self._using = using
        self._due_at = 0.0
        self._forwarded: datetime | None = None

    def __call__(self) -> None:
        """Look every few seconds; publish when somebody has asked since."""
        if time.monotonic() < self._due_at:
            return
        self._due_at = time.monotonic() + CANARY_EVERY_SECONDS
        try:
            asked_at = self._asked_at()
            if asked_at is not None and asked_at != self._forwarded:
                self._publish()
                self._forwarded = asked_at
        except Exception as error:  # noqa: BLE001 - whatever it is, the loop's own next round meets it too
            logger.warning("canary_not_sent", extra={"error": type(error).__name__, "words": str(error)})
            connections[self._using].close()

    def _asked_at(self) -> datetime | None:
        row = ProcessHeartbeat.objects.using(self._using).filter(process_id=ASKED).first()
        return None if row is None else row.seen_at
