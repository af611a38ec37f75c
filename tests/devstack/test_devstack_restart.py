"""The servers of a directory end completely and come back with their data, however they ended."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.devstack.running import (
    database_server,
    descendants,
    listening_ports,
    login,
    owner,
    processes_of,
    running,
    start,
)

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.accounts import Account


def _write_a_row(directory: Path) -> None:
    with psycopg.connect(login(directory)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")


def _read_the_row(directory: Path) -> object:
    with psycopg.connect(login(directory)) as connection:
        return connection.execute("SELECT answer FROM kept").fetchone()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_of_it_and_is_no_failure(directory: Path, number: signal.Signals) -> None:
    with running(directory) as run:
        assert len(processes_of(directory)) > 3
        ports = {int(port) for port in json.loads((directory / "ports.json").read_text()).values()}
        assert len(ports) == 3
        assert ports <= listening_ports()
        code, trouble = run.end(number)
    assert (code, trouble) == (0, "")
    assert processes_of(directory) == []
    assert not ports & listening_ports()


def test_a_run_after_kill_9_stops_what_was_left_and_has_the_data(directory: Path) -> None:
    with running(directory) as first:
        _write_a_row(directory)
        address = login(directory)
        (directory / "partner" / "partner" / "delivered.csv").write_text("once")
        first.process.kill()
        first.wait()
    orphans = processes_of(directory)
    assert orphans, "the servers outlive a killed parent, or this test shows nothing"
    with running(directory):
        assert _read_the_row(directory) == (42,)
        assert login(directory) == address, "a stored address stays true where its port is free"
    assert (directory / "partner" / "partner" / "delivered.csv").read_text() == "once"
    assert processes_of(directory) == []


def test_a_run_after_kill_9_of_the_servers_themselves_has_the_data(directory: Path) -> None:
    with running(directory) as run:
        _write_a_row(directory)
        for pid in descendants(run.process.pid):
            os.kill(pid, signal.SIGKILL)
        code, trouble = run.wait()
    assert code == 1
    assert "ended by itself" in trouble
    with running(directory):
        assert _read_the_row(directory) == (42,)


@pytest.mark.parametrize("after_seconds", [0.1, 0.35, 0.5, 0.65, 0.8, 1.1])
def test_a_signal_during_the_start_leaves_nothing(directory: Path, after_seconds: float) -> None:
    run = start(directory)
    time.sleep(after_seconds)  # not a wait for something: the moment itself is the case
    run.end()
    assert processes_of(directory) == []


@pytest.mark.parametrize("after_seconds", [0.4, 0.6, 0.9])
def test_kill_9_during_the_start_does_not_hinder_the_next_one(directory: Path, after_seconds: float) -> None:
    run = start(directory)
    time.sleep(after_seconds)  # the moment itself is the case
    run.end(signal.SIGKILL)
    with running(directory):
        _write_a_row(directory)
    assert processes_of(directory) == []


def test_a_second_run_on_the_same_directory_is_refused_with_a_sentence(directory: Path) -> None:
    with running(directory):
        code, trouble = start(directory).wait()
        assert code == 1
        assert trouble == (f"{directory} is in use by another devstack; stop that one or choose another directory.\n")
        _write_a_row(directory)


def test_an_ordinary_user_can_run_it(directory: Path, nobody: Account) -> None:
    directory.mkdir(mode=0o700)
    nobody.own(directory)
    with running(directory, nobody):
        assert owner(database_server(directory / "postgres")) == (nobody.uid, nobody.gid)
    assert processes_of(directory) == []
