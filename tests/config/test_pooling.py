"""A real PgBouncer in each of its modes: who may start behind it, and what the ones that may then do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from config.devstack.partner import PROJECT
from tests.config.bouncer import pgbouncer, through
from tests.faults.fixtures import _no_session_outlives_its_test, empty_broker, pytest_configure, spool, world
from tests.faults.observing import until
from tests.faults.processes import a_dispatcher, a_worker, worker_environment
from tests.faults.world import now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.stack import Stack
    from tests.faults.world import World

__all__ = ["_no_session_outlives_its_test", "empty_broker", "pytest_configure", "spool", "world"]

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher", "auditor"]),
]

ROLES = ("api", "worker", "dispatcher", "auditor", "acknowledger")


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a directory that the pooler's account can enter."""
    with tempfile.TemporaryDirectory(prefix="bouncer-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def behind_pooler(stack: Stack, spool: Path, role: str, port: int) -> dict[str, str]:
    environment = worker_environment(stack.broker.url(), spool, role)
    login = f"{role.upper()}_DATABASE_URL"
    return environment | {login: through(port, environment[login])}


def logins() -> list[str]:
    return [os.environ[f"{role.upper()}_DATABASE_URL"] for role in ROLES]


def ended(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, *command)
    return subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


COMMANDS = {
    "worker": ("manage.py", "recover", "--once"),
    "acknowledger": ("manage.py", "collect_acknowledgments", "--once"),
    "api": ("-c", "import config.wsgi"),
}


@pytest.mark.parametrize("mode", ["transaction", "statement"])
@pytest.mark.parametrize("role", COMMANDS)
def test_who_rests_on_a_session_does_not_start_behind_a_pooler_that_lends_them(
    mode: str, role: str, stack: Stack, spool: Path, place: Path
) -> None:
    with pgbouncer(place, stack.postgres.port, logins(), mode) as port:
        refused = ended(behind_pooler(stack, spool, role, port), *COMMANDS[role])

    assert refused.returncode != 0
    assert "through a pooler that lends its sessions" in refused.stderr
    assert "session mode" in refused.stderr


def test_a_worker_behind_a_pooler_in_session_mode_works(stack: Stack, spool: Path, world: World, place: Path) -> None:
    with (
        pgbouncer(place, stack.postgres.port, logins(), "session") as port,
        a_worker(behind_pooler(stack, spool, "worker", port), spool.parent / "worker.log", slots=1),
        a_dispatcher(behind_pooler(stack, spool, "dispatcher", port), spool.parent / "dispatcher.log"),
    ):
        job = world.queued()
        until(lambda: now(job).status == "Completed", 60)


def test_dispatcher_and_auditor_work_behind_a_pooler_that_lends_sessions(
    stack: Stack, spool: Path, world: World, place: Path
) -> None:
    with (
        pgbouncer(place, stack.postgres.port, logins(), "transaction") as port,
        a_dispatcher(behind_pooler(stack, spool, "dispatcher", port), spool.parent / "dispatcher.log"),
        a_worker(worker_environment(stack.broker.url(), spool), spool.parent / "worker.log", slots=1),
    ):
        job = world.queued()
        until(lambda: now(job).status == "Completed", 60)
        audited = ended(behind_pooler(stack, spool, "auditor", port), "manage.py", "audit_exports")

    assert (audited.returncode, audited.stdout) == (0, "violations: 0\n")
