"""The devstack in the foreground: started, provisioned, announced, and stopped by a signal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from config.devstack import environment
from config.devstack.errors import DevstackError, Interrupted, explain
from config.devstack.home import ENV
from config.devstack.provision import provision
from config.devstack.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from config.devstack.waiting import StopSignals

SETTINGS = "config.settings.local"
PARTNER = "partner"
"""The account at the partner's server that DIR/env describes."""

_DRAIN_SECONDS = "10"  # exports here take a second or two; ending a worker should not take minutes
_LOOK_EVERY_SECONDS = 0.2  # how soon a signal or a dead server is noticed


def guarded(work: Callable[[], None]) -> None:
    """Run `work`, which a request to stop may end; every expected failure becomes a DevstackError."""
    try:
        work()
    except Interrupted:
        return
    except OSError as error:
        raise DevstackError(explain(error)) from error


def run(directory: Path, report: Callable[[str], None], signals: StopSignals) -> None:
    """Serve in `directory` until a signal; raises DevstackError if that cannot go on."""
    guarded(lambda: _serve(directory, report, signals))


def _serve(directory: Path, report: Callable[[str], None], signals: StopSignals) -> None:
    with Stack(directory, check=signals.check, report=report) as stack:
        prepare(stack, report)
        report("ready")
        watch(stack, signals)


def prepare(stack: Stack, report: Callable[[str], None]) -> Mapping[str, str]:
    """Provision a started stack and write its DIR/env; return what is in it."""
    values = environment.variables(stack, SETTINGS)
    values |= environment.partner_variables(stack.partner.add_account(PARTNER))
    values["EXPORT_DRAIN_SECONDS"] = _DRAIN_SECONDS
    report("creating roles and tables")
    provision(stack, values)
    environment.write(stack.home.directory / ENV, values)
    return values


def watch(stack: Stack, signals: StopSignals) -> None:
    """Wait for a signal; raises DevstackError when one of the processes ends by itself."""
    while True:
        signals.check()
        refuse_ended(stack)
        time.sleep(_LOOK_EVERY_SECONDS)


def refuse_ended(stack: Stack) -> None:
    """Raise DevstackError if a process has ended that nobody asked to."""
    for name in stack.home.children.ended():
        raise DevstackError(f"{name} ended by itself; {stack.home.log(name)} may say why.")
