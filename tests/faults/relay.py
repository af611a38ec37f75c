"""A TCP relay of the tests' own: it stands between a client and a real server and can fail in every way a network can.

One thread a direction and connection. What it does with the bytes is a `Wire`'s business; the plain one passes
them on. Every fault is observed by events, never by sleeping.
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from enum import Enum, auto
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPBACK = "127.0.0.1"
BLOCK = 65_536
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time to linger: the peer sees a reset, as from a machine that lost its memory."""


class Doors(Enum):
    """What happens to a new connection."""

    OPEN = auto()
    RESET = auto()
    """Accepted and reset at once."""
    SILENT = auto()
    """Accepted, and never a word."""
    CLOSED = auto()
    """Nobody listens: connection refused."""


class Link:
    """One relayed connection: its two sockets and the threads between them."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.muted = threading.Event()
        """Once set, what the server says is swallowed, and so is what the client says."""

    def to_client(self, data: bytes) -> None:
        """Send to the client, unless the link is a black hole by now."""
        if not self.muted.is_set():
            self.client.sendall(data)

    def to_server(self, data: bytes) -> None:
        """Send to the server, unless the link is a black hole by now."""
        if not self.muted.is_set():
            self.server.sendall(data)

    def cut_client(self) -> None:
        """Reset the client's side only: the server's session lives on and knows nothing."""
        _reset(self.client)

    def cut(self) -> None:
        """Reset both sides."""
        _reset(self.client)
        _reset(self.server)


class Wire:
    """Passes bytes on as they come; a subclass follows a protocol and fails at the right moment."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def from_client(self, data: bytes) -> None:
        """Take what the client sent."""
        self.link.to_server(data)

    def from_server(self, data: bytes) -> None:
        """Take what the server sent."""
        self.link.to_client(data)


class Relay:
    """Listens on a loopback port and relays each connection to one server; a context manager."""

    def __init__(self, host: str, port: int, wire: Callable[[Link], Wire] = Wire) -> None:
        self._target = (host, port)
        self._wire = wire
        self._links: list[Link] = []
        self._lock = threading.Lock()
        self.doors = Doors.OPEN
        self._listener = _listen(0)
        self.port: int = self._listener.getsockname()[1]
        self.accepted = 0

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self.doors = Doors.CLOSED
        _shut(self._listener)
        self.cut()

    def set_doors(self, doors: Doors) -> None:
        """Change what happens to new connections; those that exist go on."""
        if doors is Doors.CLOSED:
            self.doors = doors
            _shut(self._listener)
            return
        was_closed, self.doors = self.doors is Doors.CLOSED, doors
        if was_closed:
            self._listener = _listen(self.port)
            self._start()

    def cut(self) -> None:
        """Reset every connection there is."""
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            link.cut()

    def mute(self) -> None:
        """Make every connection there is a black hole: it stays open and nothing passes any more."""
        with self._lock:
            for link in self._links:
                link.muted.set()

    def unmute(self) -> None:
        """Let bytes pass again; what was swallowed stays lost."""
        with self._lock:
            for link in self._links:
                link.muted.clear()

    def _start(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), name="relay", daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                self.accepted += 1
                self._welcome(client)

    def _welcome(self, client: socket.socket) -> None:
        if self.doors is Doors.RESET:
            _reset(client)
            return
        try:
            server = socket.create_connection(self._target)
        except OSError:
            _reset(client)
            return
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._relay(Link(client, server))

    def _relay(self, link: Link) -> None:
        if self.doors is Doors.SILENT:
            link.muted.set()
        with self._lock:
            self._links.append(link)
        wire = self._wire(link)
        pumps = ((link.client, wire.from_client, link.server), (link.server, wire.from_server, link.client))
        for source, take, other in pumps:
            threading.Thread(target=_pump, args=(source, take, other, link), name="relay-pump", daemon=True).start()


def _pump(source: socket.socket, take: Callable[[bytes], None], other: socket.socket, link: Link) -> None:
    """Move bytes until this side ends; its end is passed on, unless the link is a black hole."""
    with suppress(OSError):
        while data := source.recv(BLOCK):
            take(data)
    if not link.muted.is_set():
        with suppress(OSError):
            other.shutdown(socket.SHUT_WR)


def _listen(port: int) -> socket.socket:
    return socket.create_server((LOOPBACK, port), backlog=128)


def _reset(side: socket.socket) -> None:
    with suppress(OSError):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    _shut(side)


def _shut(side: socket.socket) -> None:
    """Wake whoever waits on it, then close."""
    with suppress(OSError):
        side.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        side.close()
