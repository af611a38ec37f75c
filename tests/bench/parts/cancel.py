"""How soon a cancel is answered under fifty exports a second, and how soon a long build stops."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from config.devstack import waiting
from tests.bench import deployment
from tests.bench.figures import Figure, percentile
from tests.bench.flow import a_share, in_the_background

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator

    from tests.bench.bench import Bench
    from tests.bench.deployment import Api
    from tests.bench.places import Place

A_SECOND = 50.0
CLICKS, CLICKS_A_SECOND = 200, 10.0
STOPS, STOPS_AT_ONCE = 24, 4
ANSWER_MS, STOPPED_SECONDS = 100, 2
PATIENCE_SECONDS = 30.0

RUNNING = "SELECT count(*) FROM export_jobs WHERE status = 'Running' AND id = ANY (%s)"
STOPPED = """
    SELECT extract(epoch FROM e.recorded_at - c.recorded_at)::float8
    FROM cancellation_requests c JOIN export_attempt_events e ON e.job_id = c.job_id AND e.kind = 'Stopped'
    WHERE c.outcome = 'StopRequested'"""


def run(bench: Bench) -> Iterator[Figure]:
    """Yield the two percentiles."""
    yield _answers(bench)
    bench.empty()  # what was asked for faster than this machine exports is not to stand in the way
    yield _stops(bench)


def _answers(bench: Bench) -> Figure:
    place, told = a_share(bench)
    with (
        deployment.web(bench, place) as api,
        deployment.workers(bench, 1, told=told),
        deployment.dispatcher(bench),
        in_the_background(place, A_SECOND) as made,
    ):
        waiting.until(lambda: len(made) > A_SECOND, seconds=PATIENCE_SECONDS)
        took = _click(api, made)
    words = f"{len(took)} clicks over REST, p50 {percentile(took, 50):.0f} ms"
    return Figure("answer under 50 a second, p99", percentile(took, 99), "ms", at_most=ANSWER_MS, beside=words)


def _click(api: Api, made: list[uuid.UUID]) -> list[float]:
    """Cancel the newest export again and again; return milliseconds."""
    line, took = api.connection(), []
    for _ in range(CLICKS):
        began = time.monotonic()
        api.cancel(line, str(made[-1]))
        took.append((time.monotonic() - began) * 1000)
        time.sleep(max(0.0, 1 / CLICKS_A_SECOND - took[-1] / 1000))
    line.close()
    return took


def _stops(bench: Bench) -> Figure:
    place, told = a_share(bench)
    slow = told | {"EXPORT_SOURCE": "tests.bench.slow.SlowContacts"}
    with (
        deployment.web(bench, place) as api,
        deployment.workers(bench, 1, STOPS_AT_ONCE, slow),
        deployment.dispatcher(bench),
    ):
        for _ in range(STOPS // STOPS_AT_ONCE):
            _start_and_stop(bench, api, place)
    with bench.session() as owner:
        took = [row[0] for row in owner.execute(STOPPED)]
    assert len(took) == STOPS, f"{len(took)} of {STOPS} builds were stopped"
    words = f"{STOPS} builds, p50 {percentile(took, 50):.2f} s"
    return Figure("stop request to Stopped, p99", percentile(took, 99), "s", at_most=STOPPED_SECONDS, beside=words)


def _start_and_stop(bench: Bench, api: Api, place: Place) -> None:
    """Let as many builds begin as there are slots, ask all of them to stop, and wait until they have."""
    jobs = [place.create() for _ in range(STOPS_AT_ONCE)]
    with bench.session() as owner:

        def running() -> int:
            row = owner.execute(RUNNING, [jobs]).fetchone()
            assert row is not None
            return int(row[0])

        assert waiting.until(lambda: running() == len(jobs), seconds=PATIENCE_SECONDS), "the builds did not begin"
        line = api.connection()
        for job_id in jobs:
            api.cancel(line, str(job_id))
        line.close()
        assert waiting.until(lambda: running() == 0, seconds=PATIENCE_SECONDS), "the builds did not stop"
