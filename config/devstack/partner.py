"""A partner to deliver to: an SFTP server with a host key that stays, for accounts named in a file."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh

from config.devstack import waiting
from config.devstack.child import Child, Program
from config.devstack.errors import DevstackError
from config.devstack.passwords import write_private
from config.devstack.ports import LOOPBACK

if TYPE_CHECKING:
    from config.devstack.home import Home

PROJECT = Path(__file__).resolve().parent.parent.parent

LISTENING = "listening"
"""What the server's process says once it does."""

JOURNAL = "journal.jsonl"
"""What was done to which name, in the directory of the server's secrets; see partner_files."""

_NAME = "partner"
_START_SECONDS = 60  # it imports a cryptography library, which is slow on a busy machine
_TRIES = 5  # each fails only if somebody takes the port in the same instant


@dataclass(frozen=True)
class PartnerAccount:
    """What one who delivers to this partner must know."""

    host: str
    port: int
    host_key: str
    username: str
    password: str = field(repr=False)
    private_key: str = field(repr=False)
    directory: Path
    """Where delivered files appear on this machine; the account sees it as `/`."""


class Partner:
    """One SFTP server; each account has a directory of its own, DIR/partner/NAME."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._directory = home.directory / "partner-server"
        self._files = home.directory / "partner"
        self.port = 0

    def start(self) -> None:
        """Start it on the port of last time, or on another one, and wait until it listens."""
        self._prepare()
        self.port = self._home.ports.choose(_NAME)
        for _ in range(_TRIES):
            child = self._launch()
            if self._wait_until_listening(child):
                return
            self._home.children.stop(_NAME)
            if "in use" not in child.said():
                break
            self.port = self._home.ports.renew(_NAME)
        raise DevstackError(f"The partner's SFTP server did not start; {self._home.log(_NAME)} says why.")

    def stop(self) -> None:
        """Stop it; what was delivered stays."""
        self._home.children.stop(_NAME)

    def add_account(self, name: str) -> PartnerAccount:
        """Return the account `name` (letters, digits, hyphens), made if missing; it works at once."""
        key = self._key(f"{name}.key")
        password = self._home.passwords.of(f"partner:{name}")
        accounts = self._accounts()
        accounts[name] = {"password": password, "key": _public(key)}
        write_private(self._directory / "accounts.json", json.dumps(accounts, indent=1))
        directory = self._files / name
        directory.mkdir(mode=0o700, exist_ok=True)
        return PartnerAccount(
            LOOPBACK, self.port, self.host_key, name, password, key.export_private_key().decode(), directory
        )

    @property
    def journal(self) -> Path:
        """Where the server notes what was done to which name."""
        return self._directory / JOURNAL

    @property
    def host_key(self) -> str:
        """The server's public key as OpenSSH writes it in known_hosts: kind and base64."""
        return _public(self._key("host_key"))

    def _prepare(self) -> None:
        self._directory.mkdir(mode=0o700, exist_ok=True)
        self._files.mkdir(mode=0o700, exist_ok=True)
        self._key("host_key")
        if not (self._directory / "accounts.json").exists():
            write_private(self._directory / "accounts.json", "{}")

    def _key(self, name: str) -> asyncssh.SSHKey:
        file = self._directory / name
        if not file.exists():
            write_private(file, asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode())
        return asyncssh.import_private_key(file.read_text())

    def _accounts(self) -> dict[str, dict[str, str]]:
        return dict(json.loads((self._directory / "accounts.json").read_text()))

    def _launch(self) -> Child:
        command = [
            sys.executable,
            "-m",
            "config.devstack.partner_server",
            str(self._directory),
            str(self._files),
            str(self.port),
        ]
        return self._home.children.start(Program(_NAME, command, self._home.log(_NAME), directory=PROJECT))

    def _wait_until_listening(self, child: Child) -> bool:
        """Wait for its own word: a greeting on the port could be that of somebody who took it first."""
        waiting.until(
            lambda: not child.running() or LISTENING in child.said(), seconds=_START_SECONDS, check=self._home.check
        )
        return child.running() and LISTENING in child.said()


def _public(key: asyncssh.SSHKey) -> str:
    kind, blob = key.export_public_key().decode().split()[:2]
    return f"{kind} {blob}"
