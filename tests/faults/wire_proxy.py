"""A relay that follows PostgreSQL's wire protocol, so that a fault hits one statement at one exact moment.

Messages are taken apart on both sides (startup and sign-in included; no TLS). A fault waits for a statement by
its text; when the reply is cut, the server's CommandComplete and ReadyForQuery have been seen, so that the row
proves the commit. The simple and the extended protocol are both understood.
"""

from __future__ import annotations

import re
import struct
import threading
from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from django.db import connections

from exports.sql import STATEMENTS
from tests.faults.relay import Link, Relay, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIRED_SECONDS = 20
"""Bound on waiting for a fault; what is waited for takes milliseconds."""

_NO_TLS = {80877103, 80877104}  # SSLRequest, GSSENCRequest
_CANCEL = 80877102
_SEND = {b"Q", b"S"}  # after a Query or a Sync the server answers up to ReadyForQuery


class Fault(Enum):
    """What becomes of a statement."""

    DROP_REQUEST = auto()
    """The request never reaches the server; the connection is reset."""
    CUT_REPLY = auto()
    """The server has answered in full; the answer is lost and the connection reset."""
    HOLD_REPLY = auto()
    """The server has answered in full; the answer waits for `release`."""
    LOSE_CLIENT = auto()
    """The request reaches the server, the client's connection is reset, the server's session lives on."""
    BLACK_HOLE = auto()
    """The request reaches the server; nothing passes on this connection any more, and it stays open."""


def _nothing() -> None:
    """Do nothing else."""


@dataclass
class Ambush:
    """A fault waiting for its statement; it strikes the nth time and then never again."""

    matches: Callable[[str], bool]
    fault: Fault
    countdown: int = 1
    then: Callable[[], None] = _nothing
    """Done at the moment it strikes, before the client can notice."""
    struck: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        """Wait until it has struck: for CUT_REPLY, until the server's whole answer was seen."""
        assert self.struck.wait(FIRED_SECONDS), f"{self.fault} never met its statement"

    def release(self) -> None:
        """Let a held answer go."""
        self.released.set()

    def strike(self) -> None:
        """Do what is to be done at this moment; it may have used the database in the relay's own thread."""
        self.then()
        connections.close_all()


def statement(name: str) -> Callable[[str], bool]:
    """Recognise a registered statement, however its parameters are sent."""
    parts = re.split(r"%\(\w+\)s", STATEMENTS[name].text)
    pattern = re.compile(".*?".join(re.escape(part) for part in parts), re.DOTALL)
    return lambda text: pattern.search(text) is not None


def containing(words: str) -> Callable[[str], bool]:
    """Recognise any statement with these words in it."""
    return lambda text: words in text


class WireProxy(Relay):
    """The relay in front of PostgreSQL."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port, self._new_wire)
        self._ambushes: list[Ambush] = []
        self._ambush_lock = threading.Lock()
        self.statements: list[str] = []
        """Every statement that reached the server, in order, as text."""
        self.watch: Callable[[str], None] = self.statements.append
        """Told of each of them as it passes."""

    def ambush(
        self,
        matches: Callable[[str], bool] | str,
        fault: Fault,
        *,
        nth: int = 1,
        then: Callable[[], None] = _nothing,
    ) -> Ambush:
        """Lay a fault for the nth statement recognised by `matches` (or registered under this name)."""
        matches = statement(matches) if isinstance(matches, str) else matches
        laid = Ambush(matches, fault, nth, then)
        with self._ambush_lock:
            self._ambushes.append(laid)
        return laid

    def sent(self, name: str) -> int:
        """Count how often a registered statement reached the server."""
        return sum(map(statement(name), list(self.statements)))

    def find(self, text: str) -> Ambush | None:
        """Return the ambush this statement runs into, if it is its turn."""
        with self._ambush_lock:
            for laid in [each for each in self._ambushes if each.matches(text)]:
                laid.countdown -= 1
                if laid.countdown == 0:
                    self._ambushes.remove(laid)
                    return laid
        return None

    def _new_wire(self, link: Link) -> Wire:
        return _PostgresWire(link, self)


class _PostgresWire(Wire):
    """One connection's two streams, cut into messages."""

    def __init__(self, link: Link, proxy: WireProxy) -> None:
        super().__init__(link)
        self._proxy = proxy
        self._client_rest = b""
        self._server_rest = b""
        self._started = False
        self._extended: list[bytes] = []
        self._prepared: dict[bytes, str] = {}
        self._waiting: deque[Ambush | None] = deque()
        self._held = b""

    def from_client(self, data: bytes) -> None:
        self._client_rest += data
        while not self._started and self._startup():
            pass
        if self._started:
            messages, self._client_rest = _messages(self._client_rest)
            for message in messages:
                self._request(message)

    def _startup(self) -> bool:
        """Take one untyped message; whether there was a whole one."""
        if len(self._client_rest) < 8:
            return False
        length, code = struct.unpack("!II", self._client_rest[:8])
        if len(self._client_rest) < length:
            return False
        message, self._client_rest = self._client_rest[:length], self._client_rest[length:]
        if code in _NO_TLS:
            self.link.to_client(b"N")
            return True
        self._started = code != _CANCEL
        self._waiting.append(None)  # the sign-in ends in a ReadyForQuery too
        self.link.to_server(message)
        return True

    def _request(self, message: bytes) -> None:
        """Gather the messages of one statement; pass it on, or spring the ambush it runs into."""
        kind = message[:1]
        if kind not in {b"P", b"B", b"D", b"E", b"C", b"H", b"Q", b"S"}:
            self.link.to_server(message)  # sign-in, COPY data, goodbye
            return
        self._extended.append(message)
        if kind in _SEND:
            sent, self._extended = self._extended, []
            self._statement(b"".join(sent), " ".join(filter(None, map(self._text, sent))))

    def _text(self, message: bytes) -> str | None:
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            return body.rstrip(b"\0").decode()
        if kind == b"P":
            name, query, _ = body.split(b"\0", 2)
            self._prepared[name] = query.decode()
        if kind == b"B":
            _, name, _ = body.split(b"\0", 2)
            return self._prepared.get(name)
        return None

    def _statement(self, data: bytes, text: str) -> None:
        laid = self._proxy.find(text) if text else None
        if laid is not None and laid.fault is Fault.DROP_REQUEST:
            laid.strike()
            self.link.cut()
            laid.struck.set()
            return
        lost_at_once = laid is not None and laid.fault in {Fault.LOSE_CLIENT, Fault.BLACK_HOLE}
        self._waiting.append(None if lost_at_once else laid)
        if text:
            self._proxy.watch(text)
        if laid is not None and lost_at_once:
            self._lose(laid, data)
        else:
            self.link.to_server(data)

    def _lose(self, laid: Ambush, request: bytes) -> None:
        # Before the request goes: its answer may be quicker than this thread. The client's end is not passed on either.
        self.link.muted.set()
        self.link.server.sendall(request)
        laid.strike()
        if laid.fault is Fault.LOSE_CLIENT:
            self.link.cut_client()
        laid.struck.set()

    def from_server(self, data: bytes) -> None:
        self._server_rest += data
        messages, self._server_rest = _messages(self._server_rest)
        for message in messages:
            self._reply(message)

    def _reply(self, message: bytes) -> None:
        """Pass an answer on; the answer to an ambushed statement is kept until it is whole."""
        laid = self._waiting[0] if self._waiting else None
        ready = message[:1] == b"Z"
        if ready and self._waiting:
            self._waiting.popleft()
        if laid is None:
            self.link.to_client(message)
            return
        self._held += message
        if ready:
            held, self._held = self._held, b""
            self._spring(laid, held)

    def _spring(self, laid: Ambush, answer: bytes) -> None:
        """Lose the server's whole answer, or keep it until it is released."""
        laid.strike()
        if laid.fault is Fault.CUT_REPLY:
            self.link.cut()
        laid.struck.set()
        if laid.fault is Fault.HOLD_REPLY:
            laid.released.wait(FIRED_SECONDS)
            self.link.to_client(answer)


def _messages(data: bytes) -> tuple[list[bytes], bytes]:
    """Cut typed messages off; return them and the incomplete rest."""
    return (found := list(_whole(data))), data[sum(map(len, found)) :]


def _whole(data: bytes) -> Iterator[bytes]:
    start = 0
    while len(data) >= start + 5:
        (length,) = struct.unpack("!I", data[start + 1 : start + 5])
        end = start + 1 + length
        if len(data) < end:
            return
        yield data[start:end]
        start = end
