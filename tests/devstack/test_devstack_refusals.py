"""What cannot work is said in one sentence, with exit code 1."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from config.devstack import home
from config.devstack.errors import DevstackError
from config.devstack.ports import LOOPBACK, Ports
from config.devstack.stack import Stack
from tests.devstack.running import running, start

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.accounts import Account


def test_a_directory_without_write_permission_is_refused(directory: Path, nobody: Account) -> None:
    directory.mkdir(mode=0o755)
    code, trouble = start(directory, nobody).wait()
    assert code == 1
    assert trouble.startswith("No permission to write ")
    assert trouble.count("\n") == 1


def test_a_file_is_refused(directory: Path) -> None:
    directory.mkdir()
    (directory / "file").touch()
    code, trouble = start(directory / "file").wait()
    assert (code, trouble) == (1, f"{directory / 'file'} is not a directory; choose another one.\n")


def test_a_full_disk_is_refused_before_anything_starts(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "NEEDED_BYTES", 10**18)
    with pytest.raises(DevstackError, match=r"MB free and the servers need 1000000000000 MB"):
        Stack(directory)
    assert not (directory / "processes").exists()


def test_a_database_of_another_version_is_refused_and_left_alone(directory: Path) -> None:
    with running(directory):
        pass
    version = directory / "postgres" / "data" / "PG_VERSION"
    version.write_text("14\n")
    code, trouble = start(directory).wait()
    assert code == 1
    assert "holds a database of PostgreSQL 14" in trouble
    assert version.read_text() == "14\n"


def test_lost_passwords_are_said(directory: Path) -> None:
    with running(directory):
        pass
    (directory / "passwords.json").unlink()
    code, trouble = start(directory).wait()
    assert code == 1
    assert "are not those of its database" in trouble


def test_a_taken_port_is_replaced_and_a_free_one_is_kept(tmp_path: Path) -> None:
    ports = Ports(tmp_path / "ports.json")
    first = ports.choose("postgres")
    assert ports.choose("postgres") == first
    with socket.create_server((LOOPBACK, first)):
        second = ports.choose("postgres")
    assert second != first
    assert ports.choose("postgres") == second
