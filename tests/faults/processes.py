"""Real worker processes: `celery -A config worker` children with this run's environment, watched and ended by id."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from django.db import connections

from tests.faults.observing import until

if TYPE_CHECKING:
    import signal
    import uuid
    from collections.abc import Callable, Iterator, Mapping

    from tests.faults.relay import Relay

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
"""A start takes two or three seconds; the machine may be very busy."""
END_SECONDS = 30.0

TIMINGS = {
    "EXPORT_LEASE_SECONDS": "1.5",
    "EXPORT_RENEW_SECONDS": "0.5",
    "EXPORT_STOP_POLL_SECONDS": "0.1",
    "EXPORT_DRAIN_SECONDS": "10",
    "EXPORT_RECOVER_EVERY_SECONDS": "0.5",
    "EXPORT_RESOLVE_AFTER_SECONDS": "5",
}
"""Short, with production's relations to each other."""


def worker_environment(broker_url: str, spool: Path, role: str = "worker", **told: str) -> dict[str, str]:
    """Return what a process of this role on this run's test database needs."""
    login = f"{role.upper()}_DATABASE_URL"
    return {
        **os.environ,
        **TIMINGS,
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
        "EXPORT_ROLE": role,
        login: _in_test_database(os.environ[login]),
        "BROKER_URL": broker_url,
        "EXPORT_SPOOL_DIR": str(spool),
        "PYTHONUNBUFFERED": "1",
        **told,
    }


def _in_test_database(url: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{connections['default'].settings_dict['NAME']}"))


def behind(relay: Relay, url: str) -> str:
    """Lead this address through a relay."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{relay.port}")))


class Process:
    """One child in a session of its own, its output in a file."""

    def __init__(self, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as output:
            self._child = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=dict(environment),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._child.poll() is None

    def said(self) -> str:
        """Return everything it has written so far."""
        return self.log.read_text(errors="replace")

    def wait_for(self, words: str, seconds: float = START_SECONDS) -> None:
        """Wait until it has said these words."""
        until(lambda: words in self.said() or not self.is_running, seconds)
        assert words in self.said(), f"it ended with {self._child.returncode} and said:\n{self.said()}"

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something this process brings about; show what it said when that does not come."""
        try:
            until(holds)
        except AssertionError as error:
            state = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()[2:3]
            raise AssertionError(f"{error}; {state}; it said:\n{self.said()}") from None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._child.send_signal(number)

    def wait(self, seconds: float = END_SECONDS) -> int:
        """Wait for its end; return its exit code, negative for a signal."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {seconds} s and said:\n{self.said()}") from None

    def end(self) -> None:
        """End it whatever it does, stopped or not."""
        if self.is_running:
            self._child.kill()
            self._child.wait()


@contextmanager
def a_worker(
    environment: Mapping[str, str], log: Path, *, app: str = "config", slots: int = 4, wait: bool = True
) -> Iterator[Process]:
    """Run a worker on the exports queue until the block ends; unless told otherwise it is ready when that begins."""
    command = [sys.executable, "-m", "celery", "-A", app, "--quiet", "worker", "-Q", "exports", "-c", str(slots)]
    command += ["-n", f"{log.stem}@%h", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
    process = Process(command, environment, log)
    try:
        if wait:
            process.wait_for("ready.")
        yield process
    finally:
        process.end()


@contextmanager
def a_dispatcher(environment: Mapping[str, str], log: Path) -> Iterator[Process]:
    """Run `manage.py dispatch_outbox` until the block ends."""
    process = Process([sys.executable, "manage.py", "dispatch_outbox"], environment, log)
    try:
        yield process
    finally:
        process.end()


@contextmanager
def a_step(scenario: str, job_id: uuid.UUID, environment: Mapping[str, str], log: Path) -> Iterator[Process]:
    """Let a process of its own take one scenario's step."""
    process = Process([sys.executable, "-m", "tests.faults.act", scenario, str(job_id)], environment, log)
    try:
        yield process
    finally:
        process.end()


def is_stopped(pid: int) -> bool:
    """Whether a process stands still under SIGSTOP."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] == "T"


def now_ms() -> float:
    """Return a monotonic clock in milliseconds, for measurements that a test prints."""
    return time.monotonic() * 1000
