"""What cancellations of other exports, at full speed, add to the time of a claim."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING

from exports.worker.writes import AttemptWrites, Claim
from tests.bench.figures import Figure, median, percentile, spread
from tests.bench.helpers import helper
from tests.bench.life import WORKER, Terms, born
from tests.bench.parts.protocol import NULL_TERMS
from tests.bench.places import a_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench

CLAIMS = 300
A_SECOND = 100.0
ROUNDS = 3
MOST = 2.0


def run(bench: Bench) -> Iterator[Figure]:
    """Yield the p99 of claims beside cancellations as a multiple of the p99 without, rounds taken in turn."""
    place = a_place(NULL_TERMS)
    terms = Terms(place.tenant.id, place.destination.id, place.contract.id, NULL_TERMS)
    told = json.dumps({"tenant": str(place.tenant.id), "destination": str(place.destination.id)})
    rounds, cancelled = [], 0
    with helper(bench, "tests.bench.cancelling", told) as other:
        _claims_ms(terms)  # the first claims open and prepare everything
        for _ in range(ROUNDS):
            idle = percentile(_claims_ms(terms), 99)
            other.tell("go")
            busy = percentile(_claims_ms(terms), 99)
            other.tell("stop")
            cancelled += int(other.hear())
            rounds.append((idle, busy))
    ratios = [busy / idle for idle, busy in rounds]
    words = f"idle {median([idle for idle, _ in rounds]):.1f} ms, beside {cancelled} cancellations"
    words += f" {median([busy for _, busy in rounds]):.1f} ms; rounds {spread(ratios)}"
    yield Figure("p99 of a claim", median(ratios), "times idle", at_most=MOST, beside=words)


def _claims_ms(terms: Terms) -> list[float]:
    """Claim at a steady pace; return each claim's milliseconds."""
    took, contract = [], terms.contract
    for _ in range(CLAIMS):
        job = born(terms, "api")
        writes = AttemptWrites(job.id, uuid.uuid4(), WORKER, lambda: time.monotonic() + 60, "worker")
        began = time.monotonic()
        assert writes.claim(job, terms.contract_id, contract.limits) is Claim.CLAIMED
        took.append((time.monotonic() - began) * 1000)
        time.sleep(max(0.0, 1 / A_SECOND - took[-1] / 1000))
    return took
