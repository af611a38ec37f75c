"""Sweeping stale exports and recovering expired leases, in a table with few finished exports and in one with many."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.db import connections

from exports import sweeper
from exports.conf import limits
from reconciliation import recovery
from tests.bench.datasets import copy_of, jobs
from tests.bench.figures import Figure, median, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench

FEW = 10_000
SECONDS = 10.0
"""How long each goes on after its first batch; the rest of the rows would take minutes and tell nothing new."""
ROUNDS = 5
MOST = 1.5


def run(bench: Bench) -> Iterator[Figure]:
    """Yield the first batch's time in the large table as a multiple of that in the small one, and rows per second."""
    with copy_of(bench, jobs(bench, FEW)) as small, copy_of(bench, jobs(bench, bench.sizes.finished_jobs)) as large:
        few, many = bench.alias("few", "worker", small), bench.alias("many", "worker", large)
        beside = f"{bench.sizes.finished_jobs:,} finished exports in the table against {FEW:,}"
        for name, batch in (("sweep", _sweep_batch), ("recover", _recover_batch)):
            pairs = [(batch(few), batch(many)) for _ in range(ROUNDS)]
            ratios = [second / first for first, second in pairs]
            words = f"{beside}; first {ratios[0]:.2f}, later {spread(ratios[1:])}"
            yield Figure(f"{name}: first batches", median(ratios), "times as long", at_most=MOST, beside=words)
        swept, recovered = _sweep(many), _recover(many)
        connections["few"].close()
        connections["many"].close()
    yield Figure("sweep", swept, "rows/s", beside=f"{bench.sizes.stale_jobs:,} stale rows")
    yield Figure("recover", recovered, "rows/s", beside=f"{bench.sizes.expired_jobs:,} expired leases")


def _sweep_batch(using: str) -> float:
    """Sweep one batch; return seconds, the connection made before."""
    connections[using].ensure_connection()
    began = time.monotonic()
    done = sweeper.run_once(limits().sweep_batch, time_budget_seconds=0, using=using)
    assert done.woken == limits().sweep_batch, done
    return time.monotonic() - began


def _recover_batch(using: str) -> float:
    """Recover as many attempts as one page holds; return seconds."""
    connections[using].ensure_connection()
    began = time.monotonic()
    done = recovery.run_once(limits().sweep_batch, time_budget_seconds=60, using=using)
    assert done.requeued == limits().sweep_batch, done
    return time.monotonic() - began


def _sweep(using: str) -> float:
    began = time.monotonic()
    done = sweeper.run_once(limits().sweep_batch, time_budget_seconds=SECONDS, using=using)
    return done.woken / (time.monotonic() - began)


def _recover(using: str) -> float:
    began = time.monotonic()
    done = recovery.run_once(100_000, time_budget_seconds=SECONDS, using=using)
    return done.requeued / (time.monotonic() - began)
