"""A deployment on three machines: three workers, two beats, two dispatchers, two web processes."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from config.devstack import ports
from tests.faults.processes import Process, worker_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.machines.network import Machine, Network

READY_SECONDS = 180.0
"""Nine processes start at once on a machine that others use too."""
QUIET = ("--loglevel", "INFO")
ROOM = {
    "EXPORT_API_WRITES_PER_MINUTE": "1000000",
    "EXPORT_LEASE_SECONDS": "6",
    "EXPORT_RENEW_SECONDS": "2",
    "EXPORT_RESOLVE_AFTER_SECONDS": "10",
    "EXPORT_SWEEP_AFTER_SECONDS": "30",
    "EXPORT_SWEEP_EVERY_SECONDS": "5",
}


@dataclass(frozen=True)
class Deployment:
    """What runs, and where its web processes are reached."""

    web: tuple[str, ...]
    workers: tuple[Process, ...]
    processes: tuple[Process, ...]

    def still_runs(self) -> bool:
        """Whether every process still does; fails with the words of one that does not."""
        for process in self.processes:
            assert process.is_running, f"{process.log.name} ended and said:\n{process.said()[-4000:]}"
        return True


@contextmanager
def deployed(network: Network, broker_url: str, directory: Path) -> Iterator[Deployment]:
    """Run everything until the block ends; it is ready when the block begins."""
    builder = _Builder(network, broker_url, directory)
    with ExitStack() as undo:
        undo.callback(builder.end)
        workers = tuple(builder.worker(machine) for machine in network.machines)
        for machine in network.machines[:2]:
            builder.web(machine)
            builder.beat(machine)
            builder.dispatcher(machine)
        for process, words in builder.started:
            process.wait_for(words, READY_SECONDS)
        yield Deployment(tuple(builder.addresses), workers, tuple(process for process, _ in builder.started))


class _Builder:
    def __init__(self, network: Network, broker_url: str, directory: Path) -> None:
        self._network = network
        self._broker = broker_url
        self._directory = directory
        self.started: list[tuple[Process, str]] = []
        self.addresses: list[str] = []

    def end(self) -> None:
        """End everything that was started."""
        for process, _ in self.started:
            process.end()

    def worker(self, machine: Machine) -> Process:
        told = ("worker", "-Q", "exports,maintenance", "-c", "4", "-n", f"{machine.name}@tests", *QUIET)
        return self._start(machine, "worker", "worker", (*_CELERY, *told), "ready.")

    def beat(self, machine: Machine) -> Process:
        return self._start(machine, "beat", "worker", (*_CELERY, "beat", "--pidfile=", *QUIET), "beat: Starting")

    def dispatcher(self, machine: Machine) -> Process:
        told = {"EXPORT_METRICS_PORT": "0"}
        return self._start(machine, "dispatcher", "dispatcher", ("manage.py", "dispatch_outbox"), "", **told)

    def web(self, machine: Machine) -> Process:
        port = ports.unused()
        self.addresses.append(f"http://{machine.address}:{port}")
        told = ("--bind", f"{machine.address}:{port}", "--worker-class", "gthread", "--threads", "4")
        command = ("-m", "gunicorn", "config.wsgi", *told, "--no-control-socket", "--graceful-timeout", "5")
        hosts = {"ALLOWED_HOSTS": machine.address, "EXPORT_SECOND_FACTOR": "true"}
        return self._start(machine, "web", "api", command, "Booting worker", **hosts)

    def _start(
        self, machine: Machine, what: str, role: str, command: tuple[str, ...], ready: str, **told: str
    ) -> Process:
        spool = self._directory / f"spool-{machine.name}"
        spool.mkdir(mode=0o700, exist_ok=True)
        environment = worker_environment(self._reached(self._broker), spool, role, **ROOM, **told, **machine.clock)
        login = f"{role.upper()}_DATABASE_URL"
        environment[login] = self._reached(environment[login])
        log = self._directory / f"{what}-{machine.name}.log"
        process = Process([*machine.inside, sys.executable, *command], environment, log)
        self.started.append((process, ready))
        return process

    def _reached(self, url: str) -> str:
        """Turn an address on loopback into the one under which the machines find the same server."""
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=parts.netloc.replace("127.0.0.1", self._network.servers)))


_CELERY = ("-m", "celery", "-A", "tests.machines.app", "--quiet")
