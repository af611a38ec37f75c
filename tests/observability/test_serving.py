"""A process without a web server answers scrapes on its port, and a port that is taken costs nothing else."""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.faults.observing import until
from tests.faults.processes import a_dispatcher, worker_environment
from tests.faults.world import World, now
from tests.observability.seeing import names

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.stack import Stack

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]


@pytest.fixture
def port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        number: int = probe.getsockname()[1]
    return number


def told(stack: Stack, spool: Path, port: int) -> dict[str, str]:
    return worker_environment(stack.broker.url(), spool, "dispatcher", EXPORT_METRICS_PORT=str(port))


def scrape(port: int) -> str:
    with suppress(URLError), urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
        return text
    return ""


def test_a_dispatcher_says_on_its_port_what_it_published(stack: Stack, spool: Path, world: World, port: int) -> None:
    with a_dispatcher(told(stack, spool, port), spool.parent / "dispatcher.log"):
        world.queued()
        until(lambda: "exports_dispatched_total 1.0" in scrape(port), 40)


def test_a_dispatcher_whose_port_is_taken_says_so_and_works(stack: Stack, spool: Path, world: World, port: int) -> None:
    log = spool.parent / "dispatcher.log"
    with socket.create_server(("127.0.0.1", port)), a_dispatcher(told(stack, spool, port), log) as process:
        job = world.queued()
        process.wait_for("metrics_not_served")
        until(lambda: any(name.startswith("dispatcher:") for name in names()), 40)

        assert now(job).status == "Queued"
        assert process.is_running
