"""The collector as a deployment runs it: a process of its own role, on a queue of its own, or by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connections

from config.celery import COLLECT_SECONDS, app, configure
from config.devstack.partner import PROJECT
from exports.states import Status
from reconciliation.acknowledgments import collecting
from tests.acknowledgments.waiting import file_of, status_of, unknown
from tests.recovery.lives import ALIASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from config.devstack.stack import Stack
    from tests.acknowledgments.waiting import At

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

START_SECONDS = 60.0
"""A worker starts within three seconds; the machine may be very busy."""
TASK = "reconciliation.collect_acknowledgments"


def environment(stack: Stack, at: At, **told: str) -> dict[str, str]:
    """Return what a collector's process needs, on this run's test database, and nothing of a worker's."""
    name = connections["default"].settings_dict["NAME"]
    login = urlsplit(os.environ["ACKNOWLEDGER_DATABASE_URL"])._replace(path=f"/{name}")
    kept = {name: os.environ[name] for name in ("PATH", "SECRET_KEY", "ALLOWED_HOSTS")}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
        "ACKNOWLEDGER_DATABASE_URL": urlunsplit(login),
        "BROKER_URL": stack.broker.url(),
        "CREDENTIAL_KEYS": at.key,
        "PYTHONUNBUFFERED": "1",
        **told,
    }


@pytest.mark.processes
def test_the_command_runs_under_its_own_role_and_prints_its_counts(stack: Stack, at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")

    command = [sys.executable, "manage.py", "collect_acknowledgments", "--once"]
    done = subprocess.run(
        command, cwd=PROJECT, env=environment(stack, at), capture_output=True, text=True, check=True, timeout=60
    )

    counts = json.loads(done.stdout.splitlines()[-1])
    assert (counts["sought"], counts["appended"], counts["completed"], counts["finished"]) == (1, 1, 1, True)
    assert status_of(job) == Status.COMPLETED


@pytest.fixture
def worker(stack: Stack, at: At, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker that is told nothing but its role."""
    command = [sys.executable, "-m", "celery", "-A", "config", "--quiet", "worker", "-c", "1"]
    command += ["-n", "acknowledgments@%h", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
    with (tmp_path / "log").open("wb") as log:
        child = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment(stack, at, EXPORT_ROLE="acknowledger"),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    yield child
    child.terminate()
    assert child.wait(30) == 0, (tmp_path / "log").read_text()


@pytest.mark.processes
def test_a_worker_of_this_role_takes_the_ticks_of_its_queue_and_does_what_it_finds(
    stack: Stack, at: At, worker: subprocess.Popen[bytes]
) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")

    tick = [sys.executable, "-m", "celery", "-A", "config", "call", TASK]
    as_beat = environment(stack, at, EXPORT_ROLE="worker")  # which knows the queue by its name alone
    subprocess.run(tick, cwd=PROJECT, env=as_beat, capture_output=True, check=True, timeout=60)

    deadline = time.monotonic() + START_SECONDS
    while status_of(job) != Status.COMPLETED and worker.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert status_of(job) == Status.COMPLETED


@pytest.mark.parametrize(
    ("role", "queues"),
    [
        ("worker", ["exports", "maintenance"]),
        ("acknowledger", ["acknowledgments"]),
        ("api", ["exports", "maintenance", "acknowledgments"]),
    ],
)
def test_a_process_takes_only_from_queues_whose_work_its_role_can_do(
    settings: Any, role: str, queues: list[str]
) -> None:
    settings.EXPORT_ROLE = role
    assert [queue.name for queue in configure()["task_queues"]] == queues


@pytest.mark.processes
def test_a_collector_goes_looking_by_itself_at_the_shortest_pace_a_contract_may_ask_for(
    at: At, worker: subprocess.Popen[bytes]
) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")

    deadline = time.monotonic() + START_SECONDS
    while status_of(job) != Status.COMPLETED and worker.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert status_of(job) == Status.COMPLETED
    assert collecting.EVERY_SECONDS == COLLECT_SECONDS


def test_beat_sends_nothing_to_the_collectors_queue_which_may_have_no_reader() -> None:
    queues = {entry["options"]["queue"] for entry in configure()["beat_schedule"].values()}
    assert queues == {"exports", "maintenance"}


def test_the_task_is_one_delegating_line_and_routed_to_its_queue() -> None:
    assert app.conf.task_routes[TASK] == {"queue": "acknowledgments"}
