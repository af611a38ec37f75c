"""The processes of a deployment, each with the servers' variables and its role, and nothing else."""

from __future__ import annotations

import sys
from dataclasses import dataclass
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
# A worker ends its exports first; afterwards it is killed, which the design is made to survive.
_ENDING = Ending(grace_seconds=20, tier=PROCESS)


@dataclass(frozen=True)
class Process:
    """One process of a deployment: its name here, its role, its command."""

    name: str
    role: str
    command: Sequence[str]
    descriptors: tuple[int, ...] = ()


def deployment(listener: int) -> list[Process]:
    """Return what a small deployment runs: the console on a listening socket, workers, beat, the dispatcher."""
    celery = ("-m", "celery", "-A", "config", "--quiet")
    quiet = ("--without-gossip", "--without-mingle", "--loglevel", "INFO")
    web = ("-m", "gunicorn", "config.wsgi", "--bind", f"fd://{listener}", "--worker-class", "gthread")
    web_options = ("--threads", "8", "--graceful-timeout", "5", "--no-control-socket", "--access-logfile", "-")
    return [
        Process("web", "api", (*web, *web_options), descriptors=(listener,)),
        Process("dispatcher", "dispatcher", ("manage.py", "dispatch_outbox")),
        Process(
            "worker", "worker", (*celery, "worker", "-n", "exports@%h", "-Q", "exports,maintenance", "-c", "4", *quiet)
        ),
        Process(
            "maintenance", "worker", (*celery, "worker", "-n", "maintenance@%h", "-Q", "maintenance", "-c", "2", *quiet)
        ),
        Process(
            "acknowledgments",
            "acknowledger",
            (*celery, "worker", "-n", "acknowledgments@%h", "-Q", "acknowledgments", "-c", "1", *quiet),
        ),
        Process("beat", "worker", (*celery, "beat", "--pidfile=", "--loglevel", "INFO")),
    ]


def start(home: Home, values: Mapping[str, str], report: Callable[[str], None]) -> str:
    """Start them all; return the console's address once it answers."""
    listener = ports.listen_on_first_free(CONSOLE_PORTS)
    if listener is None:
        raise DevstackError(
            f"All ports from {CONSOLE_PORTS[0]} to {CONSOLE_PORTS[-1]} are taken; stop a server on one of them."
        )
    with listener:
        for process in deployment(listener.fileno()):
            report(f"starting {process.name}")
            _launch(home, process, values)
        address = f"http://{ports.LOOPBACK}:{listener.getsockname()[1]}"
    _wait_for_console(home, address)
    return address


def _launch(home: Home, process: Process, values: Mapping[str, str]) -> None:
    home.children.start(
        Program(
            process.name,
            [sys.executable, *process.command],
            home.log(process.name),
            environment={**values, "EXPORT_ROLE": process.role},
            directory=PROJECT,
            descriptors=process.descriptors,
            ending=_ENDING,
        )
    )


def _wait_for_console(home: Home, address: str) -> None:
    if not waiting.until(lambda: answers(f"{address}/healthz/ready"), seconds=_WEB_SECONDS, check=home.check):
        raise DevstackError(f"The console did not answer; {home.log('web')} may say why.")
