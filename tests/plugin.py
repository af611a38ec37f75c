"""Starts the servers the tests run against, before Django reads its settings, and stops them at the end.

One PostgreSQL and one broker for the run, in a temporary directory, with every *_DATABASE_URL pointing at
them. EXPORT_TEST_POSTGRES_BIN names the programs of another PostgreSQL than the installed wheel's.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from config.devstack import environment
from config.devstack.errors import DevstackError
from config.devstack.home import open_home
from config.devstack.partner import PROJECT
from config.devstack.postgres import FAST_AND_LOSSY
from config.devstack.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SETTINGS = "config.settings.test"
STACK = pytest.StashKey[Stack]()
"""Where the running servers are found: `request.config.stash[STACK]`."""

_PREFIX = "contact-exports-tests-"
_PROVISION_SECONDS = 60


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Before any conftest and before pytest-django: servers up, environment set."""
    options = early_config.known_args_namespace
    _forget_ambient_settings()
    if options.help or options.version or options.collectonly:
        os.environ.update(environment.placeholders(SETTINGS))
    else:
        _start(early_config)
    return (yield)


def _start(config: pytest.Config) -> None:
    signal.signal(signal.SIGTERM, _interrupt)
    _remove_leftovers()
    directory = Path(tempfile.gettempdir()) / f"{_PREFIX}{secrets.token_hex(6)}"
    programs = os.environ.get("EXPORT_TEST_POSTGRES_BIN")
    stack = Stack(
        directory,
        programs=Path(programs) if programs else None,
        postgres_options=FAST_AND_LOSSY,
    )
    config.add_cleanup(lambda: _stop(stack))
    stack.start()
    os.environ.update(environment.variables(stack, SETTINGS))
    _provision(stack)
    config.stash[STACK] = stack


def _stop(stack: Stack) -> None:
    """Stop and delete everything; a second Ctrl-C does not leave half of it behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stack.home.remove()


def _interrupt(_number: int, _frame: FrameType | None) -> Any:
    """Make the end by SIGTERM the same as by Ctrl-C: cleanly."""
    raise KeyboardInterrupt


def _forget_ambient_settings() -> None:
    """Drop what a developer's shell may have sourced: the tests' settings are theirs alone."""
    for name in list(os.environ):
        if name.endswith("DATABASE_URL") or (name.startswith("EXPORT_") and not name.startswith("EXPORT_TEST_")):
            del os.environ[name]


def _remove_leftovers() -> None:
    """End and delete what earlier runs left that were killed; a run that still goes on holds its lock."""
    for directory in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(DevstackError, OSError):
            if directory.stat().st_uid == os.geteuid():
                open_home(directory).remove()


def _provision(stack: Stack) -> None:
    """Make the roles as a deployment does; the owner may also create the test database."""
    command = [sys.executable, "manage.py", "provision_roles"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=_PROVISION_SECONDS)
    if done.returncode != 0:
        raise pytest.UsageError(f"provision_roles failed:\n{done.stdout}{done.stderr}")
    with psycopg.connect(stack.postgres.url(), autocommit=True) as connection:
        connection.execute("ALTER ROLE exports_owner CREATEDB")
