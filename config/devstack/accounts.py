"""The account PostgreSQL runs as: it refuses to be root.

An ordinary user starts it as itself. For root it is `nobody`, which exists everywhere and owns nothing, or
whoever owns the data already. No account is added, and no directory is opened for it.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.devstack.errors import DevstackError

if TYPE_CHECKING:
    from pathlib import Path

_TRIAL_SECONDS = 20  # `postgres --version` takes milliseconds; a cold disk some seconds


@dataclass(frozen=True)
class Account:
    """Another account to run a process as."""

    uid: int
    gid: int

    def popen_arguments(self) -> dict[str, Any]:
        """Return what Popen needs to start a process as this account, without root's groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give one of the stack's own files or directories to this account."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)


def service_account(data: Path) -> Account | None:
    """Return who runs the server of `data`: None for this process's own account, else another one."""
    if os.geteuid() != 0:
        return None
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError as error:
        raise DevstackError(
            "PostgreSQL does not run as root and there is no account nobody; start this as an ordinary user."
        ) from error
    return Account(nobody.pw_uid, nobody.pw_gid)


def can_run(command: list[str], account: Account | None) -> bool:
    """Whether `account` can execute `command`: tried, because modes do not tell (ACLs, noexec, mounts)."""
    try:
        answer = subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            check=False,
            timeout=_TRIAL_SECONDS,
            **(account.popen_arguments() if account else {}),
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.returncode == 0
