"""Exports asked for at a steady pace, and what the database's own clock says of them afterwards."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connections

from config.devstack import waiting
from exports.contracts import Contract
from tests.bench.places import Place, a_place

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator

    from tests.bench.bench import Bench

WAITS = """
    SELECT extract(epoch FROM e.recorded_at - j.created_at)::float8 * 1000
    FROM export_jobs j JOIN export_attempt_events e ON e.job_id = j.id AND e.kind = 'Claimed'
    WHERE j.id = ANY (%s)"""
UNCLAIMED = "SELECT count(*) FROM export_jobs WHERE status = 'Queued' AND id = ANY (%s)"
CLAIM_SECONDS = 120.0
"""Bound on waiting for the last claim; on any machine that keeps the pace it is there at once."""


def a_share(bench: Bench, contacts: int = 10) -> tuple[Place, dict[str, str]]:
    """Make a destination on a mounted share, which costs little, and what worker processes must be told of it."""
    directory = bench.directory / "share"
    directory.mkdir(exist_ok=True)
    terms = Contract.from_json(
        {
            "endpoint": {"kind": "directory"},
            "paths": {"directory": str(directory)},
            "permissions": {"may_read": True},
            "verification": {"read_back": True},
        }
    )
    return a_place(terms, contacts=contacts), {"EXPORT_SHARE_ROOTS": str(directory)}


def steadily(place: Place, a_second: float, seconds: float, stop: threading.Event | None = None) -> list[uuid.UUID]:
    """Create exports at this pace for so long, or until `stop`; a late one is not made up for. Return their ids."""
    made, began = [], time.monotonic()
    halt = stop or threading.Event()
    while (passed := time.monotonic() - began) < seconds and not halt.is_set():
        made.append(place.create())
        halt.wait(max(0.0, len(made) / a_second - passed))
    return made


@contextmanager
def in_the_background(place: Place, a_second: float, makers: int = 2) -> Iterator[list[uuid.UUID]]:
    """Create exports at this pace while the block lasts; the list yielded grows."""
    made: list[uuid.UUID] = []
    stop = threading.Event()

    def make() -> None:
        while not stop.is_set():
            made.extend(steadily(place, a_second / makers, 1.0, stop))
        connections["api"].close()

    threads = [threading.Thread(target=make, name=f"maker-{number}") for number in range(makers)]
    for thread in threads:
        thread.start()
    try:
        yield made
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def waits_ms(bench: Bench, made: list[uuid.UUID]) -> list[float]:
    """Return how long each waited from its creation to its claim, once all are claimed."""
    with bench.session() as owner:

        def unclaimed() -> int:
            row = owner.execute(UNCLAIMED, [made]).fetchone()
            assert row is not None
            return int(row[0])

        if not waiting.until(lambda: unclaimed() == 0, seconds=CLAIM_SECONDS):
            raise RuntimeError(f"{unclaimed()} of {len(made)} exports were not claimed within {CLAIM_SECONDS:.0f} s")
        return [row[0] for row in owner.execute(WAITS, [made])]
