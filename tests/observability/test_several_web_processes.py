"""gunicorn with two worker processes: whichever answers a scrape shows what both have counted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from config.devstack import ports
from tests.faults.observing import until
from tests.faults.processes import Process, worker_environment

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.stack import Stack

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", "api"]),
]

COMMAND = ("-m", "gunicorn", "config.wsgi", "--workers", "2", "--worker-class", "gthread", "--no-control-socket")


@pytest.fixture
def port() -> int:
    return ports.unused()


def web(stack: Stack, spool: Path, port: int, **told: str) -> Process:
    environment = worker_environment(stack.broker.url(), spool, "api", **told)
    command = [sys.executable, *COMMAND, "--bind", f"127.0.0.1:{port}"]
    return Process(command, environment, spool.parent / "web.log")


def test_two_processes_without_a_directory_for_their_counters_do_not_start(
    stack: Stack, spool: Path, port: int
) -> None:
    process = web(stack, spool, port)
    try:
        process.wait_for("PROMETHEUS_MULTIPROC_DIR")
        assert process.wait(60) != 0
    finally:
        process.end()


def test_every_scrape_shows_the_counts_of_both(stack: Stack, spool: Path, port: int) -> None:
    shared = spool.parent / "counters"
    shared.mkdir()
    process = web(stack, spool, port, PROMETHEUS_MULTIPROC_DIR=str(shared))
    try:
        until(lambda: ports.answers(port), 60)
        until(lambda: len({path.name for path in shared.glob("counter_*.db")}) == 2, 60)
        seen = [scrape(port) for _ in range(20)]
    finally:
        process.end()
    assert all("exports_cancellations_total" in text or "exports_dispatched_total" in text for text in seen)
    assert all(text.count("# TYPE exports_dispatched_total counter") <= 1 for text in seen)


def scrape(port: int) -> str:
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
            text: str = answer.read().decode()
    except HTTPError as error:
        text = error.read().decode()
    return text
