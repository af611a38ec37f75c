"""Small exports from the dispatcher to a real OpenSSH server, beside procrastinate running as many no-op jobs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from config.devstack import waiting
from tests.bench import deployment
from tests.bench.figures import Figure, Skipped, spread
from tests.bench.helpers import helper
from tests.bench.partner import connections_made, destination_at, openssh

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from tests.bench.bench import Bench
    from tests.bench.deployment import Api
    from tests.bench.helpers import Helper
    from tests.bench.places import Place

JOBS = 1_000
PROCESSES = 2
CLIENTS = 4
MUST = 0.15
SECONDS = 300.0
"""Bound on a round; it takes well under a minute on a quiet machine."""

DONE = "SELECT count(*) FROM export_jobs WHERE status = 'Completed'"
ENDED = "SELECT count(*) FROM export_jobs WHERE status NOT IN ('Queued', 'Running', 'Delivering')"


def run(bench: Bench) -> Iterator[Figure]:
    """Yield exports per second as a part of the no-op jobs', each round of ours between two of theirs."""
    slots = PROCESSES * deployment.SLOTS
    with _procrastinate(bench, slots) as theirs, openssh() as server:
        place = destination_at(server)
        with deployment.web(bench, place) as api:
            created = _create(api, place)
        before = _no_ops(theirs)
        with deployment.workers(bench, PROCESSES), deployment.dispatcher(bench):
            ours = JOBS / _completed(bench)
        after = _no_ops(theirs)
        connections = connections_made(server)
    rate = (before + after) / 2
    words = f"{ours:.1f} exports/s, procrastinate {rate:.0f} no-ops/s ({spread([before, after])}), {slots} at once"
    yield Figure(f"{JOBS:,} exports", ours / rate, "of procrastinate", at_least=MUST, beside=words)
    most = place.contract.terms["limits"]["max_connections"]
    yield Figure("SFTP connections a worker process", connections / PROCESSES, "", at_most=most)
    yield Figure("created over REST", created, "a second", beside=f"{CLIENTS} clients, one web process")


def _procrastinate(bench: Bench, concurrency: int) -> AbstractContextManager[Helper]:
    try:
        import procrastinate  # noqa: F401, PLC0415 - only whether it is there
    except ImportError as error:
        raise Skipped("procrastinate is not installed: requirements/bench.txt") from error
    with bench.session(database="postgres") as admin:
        admin.execute("DROP DATABASE IF EXISTS bench_procrastinate WITH (FORCE)")
        admin.execute("CREATE DATABASE bench_procrastinate")
    parts = urlsplit(bench.url(database="bench_procrastinate"))
    return helper(
        bench,
        "tests.bench.procrastinating",
        str(concurrency),
        PGHOST=str(parts.hostname),
        PGPORT=str(parts.port),
        PGUSER=str(parts.username),
        PGPASSWORD=str(parts.password),
        PGDATABASE="bench_procrastinate",
    )


def _no_ops(theirs: Helper) -> float:
    """Run as many jobs that do nothing; return jobs per second."""
    theirs.tell(str(JOBS))
    while (said := theirs.hear()) == "ready":
        pass
    return JOBS / float(said)


def _create(api: Api, place: Place) -> float:
    """Create all of them over REST; return how many a second."""

    def create(count: int) -> None:
        line = api.connection()
        for _ in range(count):
            api.create(line, place.destination.id)
        line.close()

    began = time.monotonic()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(create, [JOBS // CLIENTS] * CLIENTS))
    return JOBS / (time.monotonic() - began)


def _completed(bench: Bench) -> float:
    """Wait until all are delivered; return seconds. Anything that ended otherwise is an error."""
    began = time.monotonic()
    with bench.session() as owner:

        def count(question: str) -> int:
            row = owner.execute(question.encode()).fetchone()
            assert row is not None
            return int(row[0])

        waiting.until(lambda: count(ENDED) == JOBS, seconds=SECONDS)
        seconds = time.monotonic() - began
        if (done := count(DONE)) != JOBS:
            raise RuntimeError(f"{done} of {JOBS} exports were completed within {seconds:.0f} s")
    return seconds
