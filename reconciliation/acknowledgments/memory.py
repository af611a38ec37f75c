"""What one collector remembers between its runs: when each destination was visited, and how far its list is done.

Losing it is harmless: a process that starts anew visits everybody once and begins each list with the oldest.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from uuid import UUID

    from reconciliation.acknowledgments.awaited import Awaited, Place, Position

logger = logging.getLogger(__name__)

MOST_NOTED: Final = 10_000
"""Overdue deliveries remembered, so that each is logged once; the oldest go first and may be logged again."""


class Memory:
    """The pace of each destination, the place in its list, and which overdue deliveries were logged."""

    def __init__(self) -> None:
        self.positions: dict[tuple[UUID, str], Position | None] = {}
        self._visited_at: dict[UUID, float] = {}
        self._noted: OrderedDict[UUID, None] = OrderedDict()

    def due(self, places: list[Place]) -> list[Place]:
        """Return those whose contract lets them be visited again, the longest unvisited first."""
        now = time.monotonic()
        due = [place for place in places if now - self._last(place) >= place.poll_seconds]
        return sorted(due, key=self._last)

    def visited(self, place: Place) -> None:
        """Remember that it is visited now."""
        self._visited_at[place.destination_id] = time.monotonic()

    def _last(self, place: Place) -> float:
        return self._visited_at.get(place.destination_id, float("-inf"))

    def notes_overdue(self, awaited: Awaited) -> bool:
        """Log, once, that a partner has not acknowledged in time; this fails nothing and sends nothing again."""
        if not awaited.is_overdue or awaited.attempt_id in self._noted:
            return False
        self._noted[awaited.attempt_id] = None
        while len(self._noted) > MOST_NOTED:
            self._noted.popitem(last=False)
        facts = {"job_id": str(awaited.job.id), "destination_id": str(awaited.job.destination_id)}
        logger.warning("acknowledgment_overdue", extra=facts | {"age_seconds": round(awaited.age_seconds)})
        return True
