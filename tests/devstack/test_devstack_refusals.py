"""What cannot work is said in one sentence, with exit code 1."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from config.devstack import home
from config.devstack.demo import processes
from config.devstack.errors import DevstackError
from config.devstack.ports import LOOPBACK, Ports, listen_on_first_free
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


def test_a_console_without_a_free_port_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = home.open_home(tmp_path)
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(processes, "CONSOLE_PORTS", range(port, port + 1))
        with pytest.raises(DevstackError, match=f"All ports from {port} to {port} are taken"):
            processes.start(opened, {}, lambda _line: None)
    assert list((tmp_path / "processes").iterdir()) == []
    opened.close()


def test_the_console_passes_over_a_taken_port() -> None:
    with socket.create_server((LOOPBACK, 0)) as other, socket.create_server((LOOPBACK, 0)) as free:
        taken, next_one = other.getsockname()[1], free.getsockname()[1]
        free.close()
        listener = listen_on_first_free([taken, next_one])
    assert listener is not None
    with listener:
        assert listener.getsockname() == (LOOPBACK, next_one)


def test_a_taken_port_is_replaced_and_a_free_one_is_kept(tmp_path: Path) -> None:
    ports = Ports(tmp_path / "ports.json")
    first = ports.choose("postgres")
    assert ports.choose("postgres") == first
    with socket.create_server((LOOPBACK, first)):
        second = ports.choose("postgres")
    assert second != first
    assert ports.choose("postgres") == second
