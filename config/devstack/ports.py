"""Free TCP ports on loopback, remembered so that a restart has the same addresses."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import TYPE_CHECKING

from config.devstack.errors import DevstackError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LOOPBACK = "127.0.0.1"
STANDARD = frozenset({22, 2022, 2222, 5432, 5433, 5671, 5672, 6379, 6380, 8000, 8080, 8443})
"""Ports that people expect other servers on; never taken unless asked for by number."""

_TRIES = 50  # the system hands out thousands; 50 standard ones in a row cannot happen


def is_free(port: int) -> bool:
    """Whether `port` on loopback can be listened on now; a moment later somebody else may have it."""
    return not answers(port) and _can_bind(port)


def answers(port: int) -> bool:
    """Whether somebody accepts connections there (some systems let two listen on one port)."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as caller:
        caller.settimeout(1)  # loopback answers or refuses at once
        return caller.connect_ex((LOOPBACK, port)) == 0


def _can_bind(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def unused() -> int:
    """Return a port the system calls free and nobody calls standard."""
    for _ in range(_TRIES):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind((LOOPBACK, 0))
            port: int = probe.getsockname()[1]
        if port not in STANDARD:
            return port
    raise DevstackError("No free port was found on 127.0.0.1; stop some servers and start again.")


def listen_on_first_free(candidates: Iterable[int]) -> socket.socket | None:
    """Return a listening socket on the first of `candidates` that is free, or None.

    To be handed to the server that will use it: between finding a port free and listening on it, nobody
    else can take it, and nobody else's server can be mistaken for ours.
    """
    for port in candidates:
        with contextlib.suppress(OSError):
            if not answers(port):
                return socket.create_server((LOOPBACK, port))
    return None


class Ports:
    """Which server has which port, in a file: a stored address stays true over a restart where it can."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def choose(self, name: str) -> int:
        """Return the port `name` had, if it is free, else a new one."""
        known = self._read().get(name)
        return known if known is not None and is_free(known) else self.renew(name)

    def renew(self, name: str) -> int:
        """Give `name` another port, because the one it had is taken."""
        port = unused()
        self._file.write_text(json.dumps(self._read() | {name: port}, indent=1))
        return port

    def _read(self) -> dict[str, int]:
        return dict(json.loads(self._file.read_text())) if self._file.exists() else {}
