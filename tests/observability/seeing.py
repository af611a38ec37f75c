"""Rows of processes, made older than they are."""

from __future__ import annotations

from datetime import timedelta

from exports.models import ProcessHeartbeat
from exports.models.base import ClockTimestamp
from exports.observability.names import BEAT, QUEUES, WAKE_UPS, row_of

EVERYBODY = ("worker:exports:host:1:aa", "dispatcher:host:2:bb", BEAT, *map(row_of, QUEUES), WAKE_UPS)


def seen(*names: str, seconds_ago: float = 0.0) -> None:
    """Let these have been seen so long ago, whoever they are."""
    rows = [
        ProcessHeartbeat(process_id=name, role="worker", seen_at=ClockTimestamp() - timedelta(seconds=seconds_ago))
        for name in names
    ]
    ProcessHeartbeat.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["process_id"], update_fields=["seen_at"]
    )


def names() -> set[str]:
    return set(ProcessHeartbeat.objects.values_list("process_id", flat=True))


def age_of(name: str) -> float:
    """Return how many seconds ago this was last seen, by the database's clock; many if never."""
    row = ProcessHeartbeat.objects.filter(process_id=name).annotate(now=ClockTimestamp()).first()
    return 1e9 if row is None else (row.now - row.seen_at).total_seconds()
