"""How long an export waits from its creation to its claim: on an idle system, and under fifty a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench import deployment
from tests.bench.figures import Figure, percentile
from tests.bench.flow import a_share, in_the_background, steadily, waits_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench

IDLE_A_SECOND, IDLE_SECONDS = 4.0, 25.0
BUSY_A_SECOND, BUSY_SECONDS = 50.0, 20.0
POLL_MS = (20, 5)
"""The default, and a quarter of it: what a faster poll would gain."""
IDLE_P50_MS, IDLE_P99_MS, BUSY_P99_MS = 50, 250, 1_000


def run(bench: Bench) -> Iterator[Figure]:
    """Yield percentiles, by the clock of the database alone."""
    for poll_ms in POLL_MS:
        yield from _idle(bench, poll_ms)
    yield _busy(bench)


def _idle(bench: Bench, poll_ms: int) -> Iterator[Figure]:
    place, told = a_share(bench)
    with deployment.workers(bench, 1, told=told), deployment.dispatcher(bench, EXPORT_DISPATCH_POLL_MS=str(poll_ms)):
        steadily(place, IDLE_A_SECOND, 2.0)  # the first exports open every connection
        waits = waits_ms(bench, steadily(place, IDLE_A_SECOND, IDLE_SECONDS))
    default = poll_ms == POLL_MS[0]
    words = f"{len(waits)} exports, poll {poll_ms} ms"
    p50, p99 = percentile(waits, 50), percentile(waits, 99)
    yield Figure("idle, p50", p50, "ms", at_most=IDLE_P50_MS if default else None, beside=words)
    yield Figure("idle, p99", p99, "ms", at_most=IDLE_P99_MS if default else None, beside=words)


def _busy(bench: Bench) -> Figure:
    place, told = a_share(bench)
    with deployment.workers(bench, told=told), deployment.dispatcher(bench):
        with in_the_background(place, BUSY_A_SECOND) as made:
            steadily(place, 1.0, BUSY_SECONDS)
        waits = waits_ms(bench, made)
    pace = len(made) / BUSY_SECONDS
    words = f"{pace:.0f} exports/s to a mounted share, p50 {percentile(waits, 50):.0f} ms"
    return Figure("under 50 a second, p99", percentile(waits, 99), "ms", at_most=BUSY_P99_MS, beside=words)
