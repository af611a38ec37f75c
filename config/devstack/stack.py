"""The three servers of one directory, started and stopped together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from config.devstack.broker import Broker
from config.devstack.home import open_home
from config.devstack.partner import Partner
from config.devstack.postgres import Postgres
from config.devstack.waiting import never

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class Server(Protocol):
    """What the stack knows of each of its servers."""

    def start(self) -> None:
        """Start and wait until it answers."""


class Stack:
    """PostgreSQL, the broker and the partner in `directory`; a context manager that stops all of it.

    `check` is asked in every wait and may raise to end a start; `report` is told what happens, a line each.
    """

    def __init__(
        self,
        directory: Path,
        *,
        programs: Path | None = None,
        postgres_options: Sequence[str] = (),
        check: Callable[[], None] = never,
        report: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.home = open_home(directory, check=check)
        self.postgres = Postgres(self.home, programs, postgres_options)
        self.broker = Broker(self.home)
        self.partner = Partner(self.home)
        self._report = report

    def start(self) -> None:
        """Start all three; whatever goes wrong, none is left running."""
        try:
            self._start_one("PostgreSQL", self.postgres)
            self._start_one("the broker", self.broker)
            self._start_one("the partner's SFTP server", self.partner)
        except BaseException:
            self.stop()
            raise

    def _start_one(self, what: str, server: Server) -> None:
        self._report(f"starting {what}")
        server.start()

    def stop(self) -> None:
        """Stop every process of the directory and let it go."""
        self.home.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
