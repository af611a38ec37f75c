"""The processes of a deployment, each with the servers' variables and its role, and nothing else."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.devstack import ports, waiting
from config.devstack.child import PROCESS, Ending, Program
from config.devstack.demo.api import answers
from config.devstack.errors import DevstackError
from config.devstack.partner import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from config.devstack.home import Home

CONSOLE_PORTS = range(8000, 8100)
"""The console's port is the first free one of these."""

_WEB_SECONDS = 60  # it answers within a few seconds; the machine may be busy
_DRAIN_SECONDS = "10"  # the demo's exports take a second or two; Ctrl-C should not take minutes
# A worker ends its exports first; afterwards it is killed, which the design is made to survive.
_ENDING = Ending(grace_seconds=20, tier=PROCESS)


@dataclass(frozen=True)
class Process:
    """One process of a deployment: its name here, its role, its command."""

    name: str
    role: str
    command: Sequence[str]
    more: Mapping[str, str] = field(default_factory=dict)


def deployment(port: int) -> list[Process]:
    """Return what a small deployment runs: the console on `port`, two workers, beat and the dispatcher."""
    celery = ("-m", "celery", "-A", "config", "--quiet")
    quiet = ("--without-gossip", "--without-mingle", "--loglevel", "INFO")
    web = ("-m", "gunicorn", "config.wsgi", "--bind", f"{ports.LOOPBACK}:{port}", "--worker-class", "gthread")
    return [
        Process(
            "web",
            "api",
            (*web, "--threads", "8", "--graceful-timeout", "5", "--no-control-socket", "--access-logfile", "-"),
        ),
        Process("dispatcher", "dispatcher", ("manage.py", "dispatch_outbox")),
        Process(
            "worker", "worker", (*celery, "worker", "-n", "exports@%h", "-Q", "exports,maintenance", "-c", "4", *quiet)
        ),
        Process(
            "maintenance", "worker", (*celery, "worker", "-n", "maintenance@%h", "-Q", "maintenance", "-c", "2", *quiet)
        ),
        Process("beat", "worker", (*celery, "beat", "--pidfile=", "--loglevel", "INFO")),
    ]


def start(home: Home, values: Mapping[str, str], report: Callable[[str], None]) -> str:
    """Start them all; return the console's address once it answers."""
    port = ports.first_free(CONSOLE_PORTS)
    if port is None:
        raise DevstackError(
            f"All ports from {CONSOLE_PORTS[0]} to {CONSOLE_PORTS[-1]} are taken; stop a server on one of them."
        )
    for process in deployment(port):
        report(f"starting {process.name}")
        _launch(home, process, values)
    address = f"http://{ports.LOOPBACK}:{port}"
    _wait_for_console(home, address)
    return address


def _launch(home: Home, process: Process, values: Mapping[str, str]) -> None:
    home.children.start(
        Program(
            process.name,
            [sys.executable, *process.command],
            home.log(process.name),
            environment={**values, "EXPORT_ROLE": process.role, "EXPORT_DRAIN_SECONDS": _DRAIN_SECONDS},
            directory=PROJECT,
            ending=_ENDING,
        )
    )


def _wait_for_console(home: Home, address: str) -> None:
    if not waiting.until(lambda: answers(f"{address}/healthz/ready"), seconds=_WEB_SECONDS, check=home.check):
        raise DevstackError(f"The console did not answer; {home.log('web')} may say why.")
