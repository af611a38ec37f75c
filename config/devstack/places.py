"""Where the database's files are.

They are in DIR/postgres wherever the server's account can get there, which is always so for an ordinary
user. Root's server runs as another account, and root's DIR is often below a directory closed to everybody
else (a home, a temporary directory). Opening that directory would change what is not ours, so the files go
to a new directory under /var/tmp instead, which DIR/postgres.place names: the next start finds it there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from config.devstack.accounts import can_run
from config.devstack.errors import DevstackError

if TYPE_CHECKING:
    from config.devstack.accounts import Account

CANDIDATES = (Path("/var/tmp"), Path("/var/lib"), Path("/tmp"))  # noqa: S108 - only the parents of a fresh mkdtemp
"""Where a place outside DIR is made: the first one where programs may be run. /tmp is last: it is emptied."""

_PASSABLE = 0o711  # others may pass through to what is theirs, and see no names


def find(directory: Path) -> Path:
    """Return the place that `directory` has already, or the one it would have if all can reach it."""
    record = directory / "postgres.place"
    if not record.exists():
        return directory / "postgres"
    place = Path(record.read_text().strip())
    if not _is_ours(place):
        raise DevstackError(
            f"The database of {directory} was in {place} and is gone; delete {directory} to begin anew."
        )
    return place


def ensure(directory: Path, account: Account | None) -> Path:
    """Return the place for the database's files, made if there was none, that `account` can reach."""
    place = find(directory)
    if account is None:
        place.mkdir(mode=0o700, exist_ok=True)
        return place
    if place.exists() and _reaches(account, place):
        return place
    return _inside(directory, account) or _outside(directory, account)


def remove_outside(directory: Path) -> None:
    """Delete the place outside `directory`, if there is one; the server must have been stopped."""
    with contextlib.suppress(DevstackError):
        if (place := find(directory)).parent != directory:
            shutil.rmtree(place)


def _inside(directory: Path, account: Account) -> Path | None:
    place = directory / "postgres"
    place.mkdir(exist_ok=True)
    place.chmod(_PASSABLE)
    if _reaches(account, place):
        return place
    if (place / "data").exists():
        raise DevstackError(
            f"The server's account can no longer reach {place}; open the directories above it again,"
            f" or delete {directory} to begin anew."
        )
    shutil.rmtree(place)
    return None


def _outside(directory: Path, account: Account) -> Path:
    """Make a place under one of the candidates. Nothing there changes: it only gets a new entry."""
    for parent in CANDIDATES:
        with contextlib.suppress(OSError):
            place = Path(tempfile.mkdtemp(prefix="contact-exports-", dir=parent))
            place.chmod(_PASSABLE)
            if _reaches(account, place):
                (place / "belongs-to").write_text(f"{directory}\n")
                (directory / "postgres.place").write_text(f"{place}\n")
                return place
            shutil.rmtree(place)
    raise DevstackError(f"The server's account can reach neither {directory} nor a directory under /var/tmp.")


def _reaches(account: Account, place: Path) -> bool:
    """Whether the account can run a program there, found by running one."""
    trial = place / "trial"
    trial.write_text("#!/bin/sh\n")
    trial.chmod(0o755)
    try:
        return can_run([str(trial)], account)
    finally:
        trial.unlink()


def _is_ours(place: Path) -> bool:
    """Whether root made it: /var/tmp is open to all, and a deleted name could be somebody else's by now."""
    with contextlib.suppress(OSError):
        found = place.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False
