"""Bring a started database to the state the processes need: roles, tables, grants."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from config.devstack import waiting
from config.devstack.child import PROCESS, Ending, Program
from config.devstack.errors import DevstackError
from config.devstack.partner import PROJECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config.devstack.home import Home
    from config.devstack.stack import Stack

_COMMAND_SECONDS = 300  # every migration on an empty database takes seconds; five minutes on a very busy machine


def provision(stack: Stack, values: Mapping[str, str]) -> None:
    """Make the database, the roles, the tables, and the grants on them; harmless when all exist."""
    run_command(stack.home, values, "provision_roles")
    run_command(stack.home, values, "migrate", "--no-input")
    run_command(stack.home, values, "provision_roles")


def run_command(home: Home, values: Mapping[str, str], *command: str) -> str:
    """Run a manage.py command with `values` as its whole environment; return what it printed.

    Raises DevstackError with its last words if it fails, and ends it if `home.check` ends the wait.
    """
    name = command[0]
    child = home.children.start(
        Program(
            name,
            [sys.executable, "manage.py", *command],
            home.log(name),
            environment=values,
            directory=PROJECT,
            ending=Ending(tier=PROCESS),
        )
    )
    waiting.until(lambda: not child.running(), seconds=_COMMAND_SECONDS, check=home.check)
    home.children.stop(name)
    if child.exit_code != 0:
        raise DevstackError(f"`manage.py {name}` failed: {_last_line(child.said())} ({home.log(name)})")
    return child.said()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
