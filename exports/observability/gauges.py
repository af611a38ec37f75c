"""What the database shows, read when somebody asks: every query on a partial index, capped, and within two seconds.

Finished exports are not counted here, their number grows for ever: the processes' counters tell their rate. A
count that has reached CAP says "so many or more". While the database does not answer there are no gauges but one
that says so.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections, transaction
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

CAP = 100_000
"""Rows of a kind counted at most; a hundred thousand waiting is as alarming as a million."""
STATEMENT_MS = 2_000
"""A scrape is asked for every few seconds; one that takes longer than this is not worth its price."""
QUIET_SECONDS = 600
"""A process not seen for so long is gone, not late; the alerts judge the youngest of each kind."""

_OPEN = ("Queued", "Running", "Delivering", "OutcomeUnknown")
_AGE = "coalesce(extract(epoch FROM clock_timestamp() - {}), 0)::float8"

_JOBS = " UNION ALL ".join(
    f"SELECT '{status}',"
    f" (SELECT count(*) FROM (SELECT FROM export_jobs WHERE status = '{status}' LIMIT {CAP}) AS counted)"
    for status in _OPEN
)
_OLDEST = f"""
    SELECT 'Queued', {_AGE.format("min(created_at)")}
    FROM (SELECT created_at FROM export_jobs WHERE status = 'Queued' ORDER BY woken_at LIMIT 10000) AS longest_asleep
    UNION ALL
    SELECT 'OutcomeUnknown', {_AGE.format("min(delivery_authorized_at)")}
    FROM (SELECT delivery_authorized_at FROM export_jobs WHERE status = 'OutcomeUnknown' LIMIT {CAP}) AS unknown"""
_EXPIRED = f"""
    SELECT count(*) FROM (
        SELECT FROM export_jobs
        WHERE status IN ('Running', 'Delivering') AND lease_expires_at < clock_timestamp() LIMIT {CAP}) AS expired"""
_OUTBOX = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM outbox WHERE published_at IS NULL LIMIT {CAP}) AS waiting),
           {_AGE.format("(SELECT min(created_at) FROM outbox WHERE published_at IS NULL)")}"""
_HOLDS = """
    SELECT cause, count(*) FROM holds
    WHERE ended_at IS NULL AND (until IS NULL OR until > clock_timestamp()) GROUP BY cause"""
_SEEN = f"""
    SELECT CASE WHEN process_id LIKE 'queue:%%' THEN process_id ELSE split_part(process_id, ':', 1) END AS kind,
           {_AGE.format("max(seen_at)")},
           count(*) FILTER (WHERE seen_at > clock_timestamp() - interval '{QUIET_SECONDS} seconds')
    FROM process_heartbeats GROUP BY kind"""


class DatabaseGauges(Collector):
    """One collector, one read-only transaction a scrape."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges, or only that the database does not answer."""
        try:
            found = list(self._read())
        except (OperationalError, InterfaceError) as error:
            logger.warning("gauges_without_database", extra={"error": type(error).__name__})
            connections[self._using].close()
            found = []
        yield GaugeMetricFamily("exports_database_up", "Whether the gauges could be read.", value=bool(found))
        yield from found

    def _read(self) -> Iterator[GaugeMetricFamily]:
        with transaction.atomic(using=self._using):
            self._ask(f"SET LOCAL statement_timeout = {STATEMENT_MS}", rows=False)
            yield self._by("jobs", "Exports that have not ended, by status; capped.", "status", _JOBS)
            yield self._by("oldest_seconds", "Age of the oldest export in this status; 0: none.", "status", _OLDEST)
            yield self._one("expired_leases", "Attempts whose lease is over, waiting for recovery.", _EXPIRED)
            yield from self._outbox()
            yield self._by("holds", "Open holds by cause.", "cause", _HOLDS)
            yield from self._seen()

    def _outbox(self) -> Iterator[GaugeMetricFamily]:
        ((waiting, lag),) = self._ask(_OUTBOX)
        yield _gauge("outbox_waiting", "Wake-ups not yet published; capped.", waiting)
        yield _gauge("outbox_lag_seconds", "Age of the oldest wake-up not yet published; 0: none.", lag)

    def _seen(self) -> Iterator[GaugeMetricFamily]:
        ages = GaugeMetricFamily("exports_seen_seconds", "Since the youngest of a kind was last seen.", labels=["kind"])
        alive = GaugeMetricFamily("exports_processes", "Processes of a kind seen lately.", labels=["kind"])
        for kind, age, count in self._ask(_SEEN):
            ages.add_metric([kind], age)
            alive.add_metric([kind], count)
        yield from (ages, alive)

    def _by(self, name: str, what: str, label: str, query: str) -> GaugeMetricFamily:
        family = GaugeMetricFamily(f"exports_{name}", what, labels=[label])
        for value, number in self._ask(query):
            family.add_metric([value], number)
        return family

    def _one(self, name: str, what: str, query: str) -> GaugeMetricFamily:
        ((number,),) = self._ask(query)
        return _gauge(name, what, number)

    def _ask(self, query: str, *, rows: bool = True) -> list[tuple[Any, ...]]:
        with connections[self._using].cursor() as cursor:
            cursor.execute(query, [])
            return cursor.fetchall() if rows else []


def _gauge(name: str, what: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"exports_{name}", what, value=value)


REGISTRY = CollectorRegistry()
REGISTRY.register(DatabaseGauges())
