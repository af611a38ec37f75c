"""An SFTP server written by hand, so that it can say anything at all: the partner nobody should trust.

It speaks the protocol over a library's SSH, with files on disk, and plays the trick its user name asks for.
Where it plays none, it is as well-behaved as the others.
"""

import asyncio
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import asyncssh

from exports.secrets import Secret
from tests.destinations.faulty import PASSWORD, PasswordLogin
from tests.destinations.keyring import new_key, public_line
from tests.destinations.loops import LoopThread
from tests.destinations.partners import Partner

INIT, VERSION, OPEN, CLOSE, READ, WRITE, LSTAT, OPENDIR, READDIR, REMOVE = 1, 2, 3, 4, 5, 6, 7, 11, 12, 13
REALPATH, RENAME, STATUS, HANDLE, DATA, NAME, ATTRS, EXTENDED = 16, 18, 101, 102, 103, 104, 105, 200


class Trick(StrEnum):
    """What this server does to its client."""

    NONE = "none"
    REORDERS = "reorders"
    REFUSES_ONE_WRITE = "refuses-one-write"
    QUOTA_STATUS = "quota-status"
    LATIN1_TEXT = "latin1-text"
    ESCAPES_IN_TEXT = "escapes-in-text"
    ENDLESS_TEXT = "endless-text"
    TELLS_NO_SIZE = "tells-no-size"
    TELLS_NO_TYPE = "tells-no-type"
    ANSWERS_A_STRANGER = "answers-a-stranger"
    ANSWERS_THE_WRONG_KIND = "answers-the-wrong-kind"
    ANNOUNCES_GIGABYTES = "announces-gigabytes"
    CUTS_ATTRIBUTES = "cuts-attributes"
    ENDLESS_HANDLE = "endless-handle"
    ENDLESS_NAMES = "endless-names"
    LATIN1_NAMES = "latin1-names"
    LIES_ABOUT_LINKS = "lies-about-links"
    NEVER_GREETS = "never-greets"
    OLD_VERSION = "old-version"
    DRIBBLES = "dribbles"


def text(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


class _Fields:
    """Reads the fields of a request."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        (value,) = struct.unpack_from(">I", self._data, self._at)
        self._at += 4
        return int(value)

    def long_number(self) -> int:
        (value,) = struct.unpack_from(">Q", self._data, self._at)
        self._at += 8
        return int(value)

    def text(self) -> bytes:
        length = self.number()
        self._at += length
        return self._data[self._at - length : self._at]


class _Conversation(asyncssh.SSHServerSession[bytes]):
    """One client's session."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._incoming = asyncio.StreamReader(limit=1 << 20)
        self._held: list[bytes] = []
        self._writes = 0
        self._handles: dict[bytes, int] = {}

    def connection_made(self, chan: Any) -> None:
        self._channel = chan
        self._trick = Trick(chan.get_extra_info("username"))

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == "sftp"

    def session_started(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    def data_received(self, data: bytes, datatype: Any) -> None:
        del datatype
        self._incoming.feed_data(data)

    def eof_received(self) -> bool:
        self._incoming.feed_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._incoming.feed_eof()

    async def _run(self) -> None:
        with suppress(asyncio.IncompleteReadError, asyncssh.Error, BrokenPipeError):
            while True:
                (length,) = struct.unpack(">I", await self._incoming.readexactly(4))
                packet = await self._incoming.readexactly(length)
                await self._answer(packet[0], _Fields(packet[1:]))
        for handle in self._handles.values():
            os.close(handle)

    async def _answer(self, kind: int, fields: _Fields) -> None:
        number = fields.number()
        if kind == INIT:
            await self._greet()
            return
        answers: dict[int, Callable[[_Fields], bytes]] = {
            OPEN: self._open,
            CLOSE: self._close,
            READ: self._read,
            WRITE: self._write,
            LSTAT: self._lstat,
            OPENDIR: self._opendir,
            READDIR: self._readdir,
            REMOVE: self._remove,
            REALPATH: self._realpath,
            RENAME: self._rename,
            EXTENDED: self._extended,
        }
        answer = answers[kind](fields)
        await self._send(self._disguised(kind, number, answer), hold=kind == WRITE)

    async def _greet(self) -> None:
        if self._trick is Trick.NEVER_GREETS:
            await asyncio.sleep(3600)
        version = 2 if self._trick is Trick.OLD_VERSION else 3
        extensions = text(b"hardlink@openssh.com") + text(b"1")
        await self._send(bytes([VERSION]) + struct.pack(">I", version) + extensions, hold=False)

    def _disguised(self, kind: int, number: int, answer: bytes) -> bytes:
        """Return the answer under its number, unless the trick is about exactly that."""
        if kind == LSTAT and self._trick is Trick.ANSWERS_A_STRANGER:
            number += 1_000
        if kind == LSTAT and self._trick is Trick.ANSWERS_THE_WRONG_KIND:
            answer = bytes([DATA]) + text(b"here you are")
        return answer[:1] + struct.pack(">I", number) + answer[1:]

    async def _send(self, packet: bytes, *, hold: bool) -> None:
        """Send, or for the trick of reordering keep answers to writes and send them backwards."""
        framed = struct.pack(">I", len(packet)) + packet
        if self._trick is Trick.ANNOUNCES_GIGABYTES and packet[0] == ATTRS:
            framed = struct.pack(">I", 0x7FFFFFFF) + packet
        if self._trick is Trick.REORDERS:
            self._held.append(framed)
            if hold and len(self._held) < 16:
                asyncio.get_running_loop().call_later(0.05, self._release)
                return
            self._release()
            return
        if self._trick is Trick.DRIBBLES and packet[0] == ATTRS:
            for at in range(len(framed)):
                self._channel.write(framed[at : at + 1])
                await asyncio.sleep(1)
            return
        self._channel.write(framed)

    def _release(self) -> None:
        held, self._held = self._held, []
        with suppress(asyncssh.Error, BrokenPipeError):
            self._channel.write(b"".join(reversed(held)))

    def _status(self, code: int, said: bytes = b"") -> bytes:
        return bytes([STATUS]) + struct.pack(">I", code) + text(said) + text(b"")

    def _path(self, raw: bytes) -> Path:
        return self._root / os.fsdecode(raw).lstrip("/")

    def _open(self, fields: _Fields) -> bytes:
        path, flags = self._path(fields.text()), fields.number()
        if self._trick is Trick.ENDLESS_HANDLE:
            return bytes([HANDLE]) + text(b"h" * 100_000)
        try:
            how = os.O_RDONLY if flags == 1 else os.O_WRONLY | os.O_CREAT | os.O_EXCL
            descriptor = os.open(path, how, 0o600)
        except OSError as error:
            return self._refused(error)
        handle = str(descriptor).encode()
        self._handles[handle] = descriptor
        return bytes([HANDLE]) + text(handle)

    def _close(self, fields: _Fields) -> bytes:
        descriptor = self._handles.pop(fields.text(), None)
        if descriptor is not None:
            os.close(descriptor)
        return self._status(0)

    def _read(self, fields: _Fields) -> bytes:
        handle, offset, count = fields.text(), fields.long_number(), fields.number()
        data = os.pread(self._handles[handle], count, offset)
        return bytes([DATA]) + text(data) if data else self._status(1)

    def _write(self, fields: _Fields) -> bytes:
        handle, offset, data = fields.text(), fields.long_number(), fields.text()
        self._writes += 1
        if self._trick is Trick.REFUSES_ONE_WRITE and self._writes == 150:
            return self._status(4, b"one of them")
        if self._trick is Trick.QUOTA_STATUS and self._writes == 3:
            return self._status(15, b"quota")
        os.pwrite(self._handles[handle], data, offset)
        return self._status(0)

    def _lstat(self, fields: _Fields) -> bytes:
        try:
            found = self._path(fields.text()).lstat()
        except OSError as error:
            return self._refused(error)
        if self._trick is Trick.TELLS_NO_SIZE:
            return bytes([ATTRS]) + struct.pack(">II", 0x04, found.st_mode)
        if self._trick is Trick.TELLS_NO_TYPE:
            return bytes([ATTRS]) + struct.pack(">IQ", 0x01, found.st_size)
        whole = bytes([ATTRS]) + struct.pack(">IQI", 0x05, found.st_size, found.st_mode)
        return whole[:-2] if self._trick is Trick.CUTS_ATTRIBUTES else whole

    def _opendir(self, fields: _Fields) -> bytes:
        del fields
        self._listed = iter([[os.fsencode(each.name) for each in self._root.iterdir()], []])
        return bytes([HANDLE]) + text(b"listing")

    def _readdir(self, fields: _Fields) -> bytes:
        del fields
        if self._trick is Trick.ENDLESS_NAMES:
            names = [b"n%d" % at for at in range(1_000)]
        elif not (names := next(self._listed)):
            return self._status(1)
        if self._trick is Trick.LATIN1_NAMES:
            names = [b"caf\xe9.csv", *names]
        size = [struct.pack(">IQ", 0x01, 7)] * len(names)
        entries = b"".join(text(name) + text(b"long") + each for name, each in zip(names, size, strict=True))
        return bytes([NAME]) + struct.pack(">I", len(names)) + entries

    def _remove(self, fields: _Fields) -> bytes:
        try:
            self._path(fields.text()).unlink()
        except OSError as error:
            return self._refused(error)
        return self._status(0)

    def _rename(self, fields: _Fields) -> bytes:
        old, new = self._path(fields.text()), self._path(fields.text())
        if new.exists():
            return self._refused(FileExistsError())
        old.rename(new)
        return self._status(0)

    def _realpath(self, fields: _Fields) -> bytes:
        del fields
        return bytes([NAME]) + struct.pack(">I", 1) + text(b"/") + text(b"/") + struct.pack(">I", 0)

    def _extended(self, fields: _Fields) -> bytes:
        if fields.text() != b"hardlink@openssh.com":
            return self._status(8)
        old, new = self._path(fields.text()), self._path(fields.text())
        if self._trick is Trick.LIES_ABOUT_LINKS:
            return self._status(0)
        try:
            new.hardlink_to(old)
        except OSError as error:
            return self._refused(error)
        return self._status(0)

    def _refused(self, error: OSError) -> bytes:
        code = 2 if isinstance(error, FileNotFoundError) else 4
        said = {
            Trick.LATIN1_TEXT: "Échec, déjà là".encode("latin-1"),
            Trick.ESCAPES_IN_TEXT: b"\x1b[2J\r\nOK: all is well\x00\xe2\x80\xae",
            Trick.ENDLESS_TEXT: b"no " * 100_000,
        }
        return self._status(code, said.get(self._trick, b"refused"))


@contextmanager
def hostile_server(loop: LoopThread, root: Path) -> Iterator[Callable[[Trick], Partner]]:
    """Run the server; yields what makes a partner of it that plays a trick."""
    key = new_key()

    class Server(PasswordLogin):
        def session_requested(self) -> Any:
            return _Conversation(root)

    async def start() -> Any:
        return await asyncssh.create_server(Server, "127.0.0.1", 0, server_host_keys=[key], encoding=None)

    listener = loop.run(start())

    def partner(trick: Trick) -> Partner:
        groups = {
            "endpoint": {"host": "127.0.0.1", "port": listener.get_port()},
            "auth": {"user": str(trick), "secret_id": "test"},
            "host_keys": [{"key": public_line(key)}],
            "paths": {"directory": "/"},
            "limits": {"idle_timeout_seconds": 3, "connect_timeout_seconds": 3, "attempt_deadline_seconds": 10},
        }
        return Partner("hostile", root, groups, Secret(password=PASSWORD))

    async def stop() -> None:
        listener.close()
        await listener.wait_closed()

    try:
        yield partner
    finally:
        loop.run(stop())
