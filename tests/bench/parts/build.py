r"""The file of five million contacts, against psql's \copy of the same query; and how much memory it takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from psycopg import ClientCursor

from exports.contracts import Payload
from exports.worker.build_query import build_query
from exports.worker.source import ContactsTable
from tests.bench import programs
from tests.bench.datasets import LARGE_TENANT, SMALL_TENANT, contacts
from tests.bench.figures import Figure, median, spread
from tests.bench.helpers import Helper, helper

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator

    from tests.bench.bench import Bench

ROUNDS = 3
MUST = 0.9
MOST_MIB = 120
FLAT = 1.05
"""How much more memory fifty times the rows may take and still be called the same."""


def run(bench: Bench) -> Iterator[Figure]:
    """Yield the speed of rounds taken in turn, and the peak of a process that built little and then much."""
    psql = programs.postgres_client(bench, "psql")
    database = contacts(bench)
    url = bench.url("exports_worker", database)
    with helper(bench, "tests.bench.building", WORKER_DATABASE_URL=url) as builder:
        small = _peak(builder, SMALL_TENANT)
        pairs = [(_ours(builder, LARGE_TENANT), _psql(bench, psql, url)) for _ in range(ROUNDS)]
        large = _peak(builder, SMALL_TENANT)
    ratios = [theirs / ours for ours, theirs in pairs]
    words = f"{median([ours for ours, _ in pairs]):.1f} s, psql {median([other for _, other in pairs]):.1f} s"
    million = bench.sizes.contacts / 1e6
    yield Figure(
        f"{million:g} million contacts", median(ratios), "of psql's speed", MUST, beside=f"{words}; {spread(ratios)}"
    )
    yield Figure("peak memory", large, "MiB", at_most=MOST_MIB, beside=f"{small:.0f} MiB after 100,000 rows")
    yield Figure("growth from 100,000 rows on", large / small, "times", at_most=FLAT)


def _ours(builder: Helper, tenant: uuid.UUID) -> float:
    """Build one file; return seconds."""
    builder.tell(str(tenant))
    return float(builder.hear().split()[0])


def _peak(builder: Helper, tenant: uuid.UUID) -> float:
    """Build one more file; return the process's peak memory since it began, in MiB."""
    builder.tell(str(tenant))
    return float(builder.hear().split()[1])


def _psql(bench: Bench, program: str, url: str) -> float:
    r"""Let psql write the same query to a file on the same disk; return seconds."""
    query = build_query(ContactsTable(), LARGE_TENANT, Payload())
    with bench.session() as session:
        copy = ClientCursor(session).mogrify(query.copy, query.parameters)
    target = bench.directory / "psql.csv"
    began = time.monotonic()
    command = copy.removeprefix("COPY").replace("TO STDOUT", f"TO '{target}'")
    programs.run([program, "-X", "-q", "-c", rf"\copy {command}"], url)
    seconds = time.monotonic() - began
    target.unlink()
    return seconds
