"""Requests out, answers in, in whatever order they come: the request numbers of SFTP over one channel.

Servers may answer in any order, and some do. Each request leaves a sink under its number, and each answer goes
to the sink it belongs to. Anything that breaks the stream makes the wire `lost` for good: after a timeout or a
garbled packet nobody can tell which answer belongs to which question.
"""

import time
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from exports.destinations.sftp.packets import EOF, OK, Garbled, Kind, Reader, number
from exports.evidence import Trouble, shown

LONGEST_ANSWER: Final = 512 * 1024
"""Bytes of one answer that are read at all; listings are the longest real ones, at most 256 KiB."""

PROTOCOL_VERSION: Final = 3

_RECEIVE_BYTES: Final = 64 * 1024
_MOST_EXTENSIONS: Final = 64
_TICK_SECONDS: Final = 0.25  # how often a wait looks up to see whether it has been called off

T = TypeVar("T")


class Channel(Protocol):
    """The byte stream underneath (paramiko's Channel)."""

    def send(self, data: bytes, /) -> int:
        """Send some of `data`; TimeoutError when nothing could be sent in time."""

    def recv(self, count: int, /) -> bytes:
        """Receive something; TimeoutError when nothing came in time, empty at the end."""

    def recv_ready(self) -> bool:
        """Whether `recv` would return at once."""

    def settimeout(self, seconds: float | None, /) -> None:
        """Bound `send` and `recv`."""


class Lost(Exception):  # noqa: N818 - says what happened to the connection
    """The connection cannot be used any more; nothing is known of requests that were not answered."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        self.trouble: Final = trouble
        self.text: Final = shown(text)
        super().__init__(f"{trouble}: {self.text}")


class Status(Exception):  # noqa: N818 - the protocol's own word
    """The server answered one request with an error. The connection is fine."""

    def __init__(self, code: int, raw: bytes) -> None:
        self.code: Final = code
        self.text: Final = shown(raw)
        super().__init__(f"status {code}: {self.text}")


Sink = Callable[[Kind, Reader], None]


def nothing() -> None:
    """Do nothing while waiting."""


class Wire:
    """One SFTP stream. `idle_seconds` bounds every single wait; the owner bounds the sum with a watchdog."""

    def __init__(self, channel: Channel, idle_seconds: float) -> None:
        self.lost: Lost | None = None
        self.extensions: dict[str, bytes] = {}
        self.while_waiting: Callable[[], None] = nothing
        self.was_broken_off: Callable[[], bool] = bool
        self._channel: Final = channel
        self._idle_seconds: Final = idle_seconds
        self._received = bytearray()
        self._sinks: dict[int, Sink] = {}
        self._last = 0
        channel.settimeout(min(_TICK_SECONDS, idle_seconds))

    def hello(self) -> None:
        """Agree on the protocol's version and keep what the server can do beyond it."""
        self._send(number(5) + bytes([Kind.INIT]) + number(PROTOCOL_VERSION))
        kind, reader = self._packet()
        try:
            version = reader.number() if kind is Kind.VERSION else 0
            while not reader.done and len(self.extensions) < _MOST_EXTENSIONS:
                name = shown(reader.text(), 64)
                self.extensions[name] = reader.text()[:64]
        except Garbled as error:
            raise self._lose(Trouble.PROTOCOL, str(error)) from error
        if version < PROTOCOL_VERSION:
            raise self._lose(Trouble.PROTOCOL, "the server offers no usable version of the protocol")

    def request(self, sink: Sink, kind: Kind, *fields: bytes) -> None:
        """Send a request of these fields; its answer will go to `sink`."""
        self._last = (self._last + 1) & 0xFFFFFFFF
        self._sinks[self._last] = sink
        length = 5 + sum(map(len, fields))
        # One join, because a write request carries 32 KB that should be copied once.
        self._send(b"".join((number(length), bytes([kind]), number(self._last), *fields)))

    def ask(self, wanted: Kind, kind: Kind, *fields: bytes) -> Reader:
        """Send a request and wait for its answer of the `wanted` kind; Status for an error, Lost for none."""
        answers: list[tuple[Kind, Reader]] = []
        self.request(lambda *answer: answers.append(answer), kind, *fields)
        while not answers:
            self.take_answer()
        return self._checked(*answers[0], wanted)

    def _checked(self, kind: Kind, reader: Reader, wanted: Kind) -> Reader:
        try:
            if kind is Kind.STATUS:
                raise_for_status(reader)
        except Garbled as error:
            raise self._lose(Trouble.PROTOCOL, str(error)) from error
        if kind is not wanted:
            raise self._lose(Trouble.PROTOCOL, f"an answer of kind {kind.name} came instead of {wanted.name}")
        return reader

    def take_answer(self) -> None:
        """Wait for one answer, whosever it is, and give it to its sink."""
        kind, reader = self._packet()
        try:
            sink = self._sinks.pop(reader.number())
            sink(kind, reader)
        except KeyError:
            raise self._lose(Trouble.PROTOCOL, "an answer came to a question nobody asked") from None
        except Garbled as error:
            raise self._lose(Trouble.PROTOCOL, str(error)) from error

    @property
    def answer_is_near(self) -> bool:
        """Whether something has come in that `take_answer` would at least begin with."""
        return len(self._received) > 0 or self._channel.recv_ready()

    def garbled(self, why: str) -> Lost:
        """Give up the stream because an answer made no sense; raise what this returns."""
        return self._lose(Trouble.PROTOCOL, why)

    def _packet(self) -> tuple[Kind, Reader]:
        length = int.from_bytes(self._take(4), "big")
        if not 1 <= length <= LONGEST_ANSWER:
            raise self._lose(Trouble.PROTOCOL, f"an answer of {length} bytes was announced")
        data = self._take(length)
        try:
            return Kind(data[0]), Reader(data[1:])
        except ValueError:
            raise self._lose(Trouble.PROTOCOL, f"an answer of unknown kind {data[0]}") from None

    def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            more = self._patiently(lambda: self._channel.recv(_RECEIVE_BYTES))
            if not more:
                raise self._lose(Trouble.CONNECTION_LOST, "the server closed the connection")
            self._received += more
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken

    def _send(self, packet: bytes) -> None:
        while packet:
            sent = self._patiently(lambda rest=packet: self._channel.send(rest))  # type: ignore[misc]
            if sent <= 0:
                raise self._lose(Trouble.CONNECTION_LOST, "the server closed the connection")
            packet = packet[sent:]

    def _patiently(self, act: Callable[[], T]) -> T:
        """Do one thing on the channel, looking up regularly while it waits, but not for ever."""
        if self.lost is not None:
            raise self.lost
        began = time.monotonic()
        while True:
            try:
                return act()
            except TimeoutError as error:
                if time.monotonic() - began >= self._idle_seconds:
                    words = f"no answer within {self._idle_seconds:g} s"
                    raise self._lose(Trouble.TIMEOUT, words) from error
            except Exception as error:  # the transport raises many types, and each means the same here
                raise self._lose(Trouble.CONNECTION_LOST, str(error) or type(error).__name__) from error
            self.while_waiting()

    def _lose(self, trouble: Trouble, text: str) -> Lost:
        """Remember the first thing that broke the stream."""
        if self.lost is None:
            broken = self.was_broken_off()
            self.lost = Lost(Trouble.TIMEOUT, "the deadline passed") if broken else Lost(trouble, text)
        return self.lost


def raise_for_status(reader: Reader) -> None:
    """Read a status answer: return for success, raise Status for anything else. The text may be anything."""
    code = reader.number()
    if code != OK:
        raise Status(code, b"" if reader.done else reader.text())


def is_end(status: Status) -> bool:
    """Whether a status means the end of a file or listing."""
    return status.code == EOF
