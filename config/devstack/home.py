"""The directory everything is in: one run at a time, its secrets, ports, logs and notes of processes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from config.devstack import places
from config.devstack.children import Children
from config.devstack.errors import DevstackError
from config.devstack.passwords import Passwords
from config.devstack.ports import Ports
from config.devstack.waiting import never

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENV = "env"
"""The file in the directory that tells processes everything; there only once all of it is true."""

_LOCK = "lock"
NEEDED_BYTES = 300_000_000
"""What a first start writes (programs 45 MB, a fresh database 60 MB), with room for work."""


@dataclass
class Home:
    """An opened, locked directory. `check` is asked in every wait and may raise to end it."""

    directory: Path
    children: Children
    passwords: Passwords
    ports: Ports
    check: Callable[[], None] = never
    _lock: TextIO | None = field(default=None, repr=False)

    def log(self, name: str) -> Path:
        """Return the file for the output of the process `name`."""
        return self.directory / "logs" / f"{name}.log"

    def close(self) -> None:
        """Stop every process and let the directory go."""
        self.children.stop_all()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def remove(self) -> None:
        """Close it and delete all of it, the database's place outside included.

        The lock goes last: nobody else who would delete it too, or use it, finds it half deleted.
        """
        self.children.stop_all()
        places.remove_outside(self.directory)
        for path in self.directory.iterdir():
            if path.name != _LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.directory / _LOCK).unlink()
        self.close()
        with contextlib.suppress(OSError):  # somebody has just begun anew in it
            self.directory.rmdir()


def open_home(directory: Path, *, check: Callable[[], None] = never) -> Home:
    """Open `directory`, made if missing, and stop what a killed run left in it.

    Raises DevstackError when another run holds it or the disk is full, OSError when it cannot be written.
    """
    directory = directory.resolve()
    _make(directory)
    lock = _lock(directory)
    try:
        return _prepare(directory, check, lock)
    except BaseException:
        lock.close()
        raise


def _prepare(directory: Path, check: Callable[[], None], lock: TextIO) -> Home:
    """Bring the locked directory to the state of a first start: nothing runs, nothing stale is promised."""
    _refuse_full_disk(directory)
    for name in ("logs", "processes"):
        (directory / name).mkdir(mode=0o700, exist_ok=True)
    (directory / ENV).unlink(missing_ok=True)
    children = Children(directory / "processes")
    children.stop_leftovers()
    passwords, ports = Passwords(directory / "passwords.json"), Ports(directory / "ports.json")
    return Home(directory, children, passwords, ports, check, lock)


def _make(directory: Path) -> None:
    """Make a missing directory; one that exists keeps its mode.

    Root's is passable, because its database server is another account; every file in it is closed.
    """
    if directory.exists() and not directory.is_dir():
        raise DevstackError(f"{directory} is not a directory; choose another one.")
    if not directory.exists():
        directory.mkdir(parents=True)
        directory.chmod(0o711 if os.geteuid() == 0 else 0o700)


def _lock(directory: Path) -> TextIO:
    """Hold the directory until this process ends, however it ends: the kernel lets go of the lock then."""
    stream = (directory / _LOCK).open("a", encoding="utf-8")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise DevstackError(
            f"{directory} is in use by another devstack; stop that one or choose another directory."
        ) from None
    return stream


def _refuse_full_disk(directory: Path) -> None:
    free = shutil.disk_usage(directory).free
    if free < NEEDED_BYTES:
        raise DevstackError(
            f"{directory} has {free // 1_000_000} MB free and the servers need"
            f" {NEEDED_BYTES // 1_000_000} MB; free some space or choose another directory."
        )
