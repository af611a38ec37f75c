"""The partner's process: `python -m config.devstack.partner_server SECRETS FILES PORT`.

SECRETS holds the host key and the accounts, FILES a directory for each account.

It knows only SFTP version 3, the one real partners speak, and offers no shell and no forwarding. Accounts
are read at each sign-in, so that new ones need no restart.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncssh

from config.devstack.partner import JOURNAL, LISTENING
from config.devstack.partner_files import JournaledFiles
from config.devstack.ports import LOOPBACK

if TYPE_CHECKING:
    from config.devstack.partner_files import Note

_SFTP_VERSION = 3
_UMASK = 0o077


class _Doorkeeper(asyncssh.SSHServer):
    """Lets the accounts in that the file names, by password or key."""

    def __init__(self, secrets: Path) -> None:
        self._secrets = secrets

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - asyncssh's signature; nobody gets in unasked
        return True

    def password_auth_supported(self) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        account = self._account(username)
        return account is not None and hmac.compare_digest(account["password"].encode(), password.encode())

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        account = self._account(username)
        return account is not None and asyncssh.import_public_key(account["key"]) == key

    def _account(self, username: str) -> dict[str, str] | None:
        accounts: dict[str, dict[str, str]] = json.loads((self._secrets / "accounts.json").read_text())
        return accounts.get(username)


def _views_of(files: Path, note: Note) -> Any:
    """Return the factory of an account's view: its own directory as the root."""

    def view(channel: asyncssh.SSHServerChannel[bytes]) -> asyncssh.SFTPServer:
        return JournaledFiles(channel, files / str(channel.get_extra_info("username")), note)

    return view


def _noting_in(journal: Path) -> Note:
    """Return what appends an event to the journal, a line each."""
    lines = journal.open("a", buffering=1, encoding="utf-8")
    return lambda event: print(json.dumps(event.plain()), file=lines)


async def serve(secrets: Path, files: Path, port: int) -> None:
    """Serve until SIGTERM or SIGINT."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with await asyncssh.create_server(
        lambda: _Doorkeeper(secrets),
        LOOPBACK,
        port,
        server_host_keys=[str(secrets / "host_key")],
        sftp_factory=_views_of(files, _noting_in(secrets / JOURNAL)),
        sftp_version=_SFTP_VERSION,
        allow_scp=False,
    ):
        print(LISTENING, flush=True)  # noqa: T201 - its parent waits for this word
        await ended.wait()


def main() -> None:
    """Read the three arguments and serve."""
    os.umask(_UMASK)
    asyncio.run(serve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))


if __name__ == "__main__":
    main()
