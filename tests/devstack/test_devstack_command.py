"""`manage.py devstack` and `manage.py demo`, as a person starts them: with no environment at all."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from config.devstack.partner import PROJECT
from config.devstack.ports import LOOPBACK
from tests.devstack.running import Run, processes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.processes

_DEMO_SECONDS = 180  # about fifteen on a quiet machine


def _manage(*arguments: str) -> Run:
    process = subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": os.defpath},
    )
    return Run(process)


def _with_sourced(directory: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that has nothing but what DIR/env gives it."""
    return subprocess.run(
        ["/bin/sh", "-ec", f'set -a; . "$1"; shift; exec {command}', "sh", str(directory / "env"), sys.executable],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,  # a command takes a second or two
        env={"PATH": os.defpath},
    )


def test_devstack_writes_an_environment_that_is_all_a_command_needs(directory: Path) -> None:
    run = _manage("devstack", str(directory))
    try:
        assert run.lines_until("ready")
        assert (directory / "env").stat().st_mode & 0o777 == 0o600
        assert (directory / "spool").stat().st_mode & 0o777 == 0o700
        for command in ('"$1" manage.py migrate --check', '"$1" manage.py provision_roles --check'):
            done = _with_sourced(directory, command)
            assert done.returncode == 0, done.stdout + done.stderr
    finally:
        code, trouble = run.end()
    assert (code, trouble) == (0, "")
    assert processes_of(directory) == []


def test_devstack_stopped_while_it_migrates_leaves_nothing(directory: Path) -> None:
    run = _manage("devstack", str(directory))
    run.lines_until("creating roles and tables")
    time.sleep(1)  # the moment itself is the case: a child command runs now
    run.end(signal.SIGINT)
    assert not (directory / "env").exists()
    assert processes_of(directory) == []


def test_the_demo_shows_every_outcome_on_the_next_port_when_8000_is_taken(directory: Path) -> None:
    with _taken(8000):
        run = _manage("demo", str(directory), "--once")
        said, trouble = run.process.communicate(timeout=_DEMO_SECONDS)
    assert (run.process.returncode, trouble) == (0, ""), said
    assert re.search(r"Console +http://127\.0\.0\.1:80(?!00)\d\d/admin/", said)
    assert said.count("Completed") == 2
    assert said.count("Rejected") == 1
    assert said.count("Canceled") == 1
    assert "violations: 0" in said
    assert processes_of(directory) == []
    _a_second_demo_that_finds_a_strangers_file_says_so_and_fails(directory)


def _a_second_demo_that_finds_a_strangers_file_says_so_and_fails(directory: Path) -> None:
    """Be the negative control, on the same directory with its data: success is not the default."""
    (directory / "partner" / "postkontor" / "stranger.csv").write_text("nobody sent this")
    run = _manage("demo", str(directory))
    said = "\n".join(run.lines_until("Serving until Ctrl-C."))
    code, trouble = run.end(signal.SIGINT)
    assert "nobody sent ['stranger.csv']" in said
    assert (code, trouble) == (1, "CommandError: Not every sample export came out as intended.\n")
    assert processes_of(directory) == []


@contextlib.contextmanager
def _taken(port: int) -> Iterator[None]:
    """Have somebody listen on `port`; if somebody does already, that is the same."""
    with contextlib.ExitStack() as listening:
        with contextlib.suppress(OSError):
            listening.enter_context(socket.create_server((LOOPBACK, port)))
        yield
