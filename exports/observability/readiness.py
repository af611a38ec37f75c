"""Is there everything an export needs on its way? Each part with its age and the bound it is judged by."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, connections
from django.db.models import Q

from exports.models import ProcessHeartbeat
from exports.models.base import ClockTimestamp
from exports.observability.names import BEAT, QUEUES, WAKE_UPS, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

logger = logging.getLogger(__name__)

PROCESS_SECONDS = 20.0
"""Four heartbeats of 5 s: three may be missed."""
CANARY_SECONDS = 45.0
"""Nine canaries of 5 s; a consumer that went deaf is told within a minute, the reader's own interval included."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part: how long ago it was seen to work (None: never, or not to be known) and how long ago it may be."""

    name: str
    age_seconds: float | None
    bound_seconds: float

    @property
    def is_well(self) -> bool:
        """Whether it was seen recently enough."""
        return self.age_seconds is not None and self.age_seconds <= self.bound_seconds


def parts(using: str = "default") -> list[Part]:
    """Return every part with its age; all of unknown age while the database does not answer."""
    try:
        ages = _ages(using)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("not_ready_without_database", extra={"error": type(error).__name__})
        connections[using].close()
        ages = {}
    return list(_parts(ages))


def _parts(ages: dict[str, float]) -> Iterator[Part]:
    yield Part("worker", ages.get("worker"), PROCESS_SECONDS)
    yield Part("dispatcher", ages.get("dispatcher"), PROCESS_SECONDS)
    yield Part("beat", ages.get(BEAT), CANARY_SECONDS)
    yield Part("wake_ups", ages.get(WAKE_UPS), CANARY_SECONDS)
    for queue in QUEUES:
        yield Part(queue, ages.get(row_of(queue)), CANARY_SECONDS)


def _ages(using: str) -> dict[str, float]:
    """Return the age of the youngest row of each kind, by the database's clock alone."""
    kinds = Q(process_id__startswith="worker:") | Q(process_id__startswith="dispatcher:")
    named = Q(process_id__in=[BEAT, WAKE_UPS, *map(row_of, QUEUES)])
    rows = ProcessHeartbeat.objects.using(using).filter(kinds | named).annotate(now=ClockTimestamp())
    ages: dict[str, float] = {}
    for process_id, seen_at, now in rows.values_list("process_id", "seen_at", "now"):
        kind = process_id if process_id.startswith("queue:") else process_id.partition(":")[0]
        age: timedelta = now - seen_at
        ages[kind] = min(ages.get(kind, age.total_seconds()), age.total_seconds())
    return ages
