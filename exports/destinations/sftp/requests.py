"""The few requests this client makes, each named for what it does, each waiting for its own answer.

All of them raise `Status` when the server answers with an error and `Lost` when no usable answer came.
"""

import hashlib
import itertools
from collections.abc import Iterator
from typing import Final

from exports.destinations.sftp.packets import (
    NO_ATTRIBUTES,
    OPEN_READ,
    OPEN_WRITE_NEW,
    Attributes,
    Garbled,
    Kind,
    long_number,
    number,
    text,
)
from exports.destinations.sftp.wire import Status, Wire, is_end

FSYNC: Final = "fsync@openssh.com"
HARDLINK: Final = "hardlink@openssh.com"
POSIX_RENAME: Final = "posix-rename@openssh.com"
CHECK_FILE: Final = "check-file-name"

_LONGEST_HANDLE: Final = 256  # bytes, by the protocol
_MOST_NAMES: Final = 20_000
"""Names of one listing that are read; a partner with more gets none, which is an answer too."""

_READ_BYTES: Final = 32_256
_SHA256_BYTES: Final = 32


class Requests:
    """What can be asked over one wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire: Final = wire

    def lstat(self, path: str) -> Attributes:
        """Say what stands under a name, not following a link."""
        reader = self._wire.ask(Kind.ATTRS, Kind.LSTAT, text(path))
        try:
            return reader.attributes()
        except Garbled as error:
            raise self._wire.garbled(str(error)) from error

    def create(self, path: str) -> bytes:
        """Create a file that must not exist yet; returns its handle."""
        return self._handle(Kind.OPEN, text(path), number(OPEN_WRITE_NEW), NO_ATTRIBUTES)

    def open_to_read(self, path: str) -> bytes:
        """Open a file for reading; returns its handle."""
        return self._handle(Kind.OPEN, text(path), number(OPEN_READ), NO_ATTRIBUTES)

    def close(self, handle: bytes) -> None:
        """Close a handle. A server with a quota says only here that the file is gone."""
        self._wire.ask(Kind.STATUS, Kind.CLOSE, text(handle))

    def fsync(self, handle: bytes) -> None:
        """Ask for the file to reach the disk; only for servers that advertise it."""
        self._extended(FSYNC, text(handle))

    def link(self, existing: str, new: str) -> None:
        """Give a file a second name, which must not exist yet."""
        self._extended(HARDLINK, text(existing), text(new))

    def rename(self, old: str, new: str) -> None:
        """Rename; whether it replaces an existing name depends on the server."""
        self._wire.ask(Kind.STATUS, Kind.RENAME, text(old), text(new))

    def posix_rename(self, old: str, new: str) -> None:
        """Rename, atomically replacing what stands under the new name."""
        self._extended(POSIX_RENAME, text(old), text(new))

    def remove(self, path: str) -> None:
        """Remove a name."""
        self._wire.ask(Kind.STATUS, Kind.REMOVE, text(path))

    def real_path(self) -> None:
        """Ask where we are: harmless, permitted everywhere, and answered by whatever is alive."""
        self._wire.ask(Kind.NAME, Kind.REALPATH, text("."))

    def sha256(self, path: str) -> str | None:
        """Ask the server for a file's hash; None when its answer is none of ours."""
        whole_file = long_number(0) + long_number(0) + number(0)
        reader = self._wire.ask(
            Kind.EXTENDED_REPLY, Kind.EXTENDED, text(CHECK_FILE), text(path), text("sha256"), whole_file
        )
        try:
            named = reader.text()
            # Some servers repeat the extension's name before the algorithm's.
            algorithm = reader.text() if named == b"check-file" else named
            digest = reader.rest()
        except Garbled as error:
            raise self._wire.garbled(str(error)) from error
        fits = algorithm == b"sha256" and len(digest) == _SHA256_BYTES
        return digest.hex() if fits else None

    def content_sha256(self, path: str) -> str:
        """Download a file and hash it."""
        handle = self.open_to_read(path)
        digest = hashlib.sha256()
        for block in self._blocks(handle):
            digest.update(block)
        self.close(handle)
        return digest.hexdigest()

    def content(self, path: str, most_bytes: int) -> bytes | None:
        """Download a small file; None when it holds more than `most_bytes`, of which no more is read."""
        handle = self.open_to_read(path)
        content = bytearray()
        for block in self._blocks(handle):
            content += block
            if len(content) > most_bytes:
                break
        self.close(handle)
        return None if len(content) > most_bytes else bytes(content)

    def names(self, directory: str) -> dict[bytes, Attributes] | None:
        """List a directory; None when it holds more names than anybody should read."""
        handle = self._handle(Kind.OPENDIR, text(directory))
        # Counted as they come: a server that repeats one name for ever would never fill a dictionary.
        found = list(itertools.islice(self._entries(handle), _MOST_NAMES + 1))
        self.close(handle)
        return None if len(found) > _MOST_NAMES else dict(found)

    def _handle(self, kind: Kind, *fields: bytes) -> bytes:
        reader = self._wire.ask(Kind.HANDLE, kind, *fields)
        try:
            handle = reader.text()
        except Garbled as error:
            raise self._wire.garbled(str(error)) from error
        if len(handle) > _LONGEST_HANDLE:
            raise self._wire.garbled("a handle longer than the protocol allows")
        return handle

    def _extended(self, name: str, *fields: bytes) -> None:
        self._wire.ask(Kind.STATUS, Kind.EXTENDED, text(name), *fields)

    def _blocks(self, handle: bytes) -> Iterator[bytes]:
        at = 0
        while True:
            try:
                reader = self._wire.ask(Kind.DATA, Kind.READ, text(handle), long_number(at), number(_READ_BYTES))
                block = reader.text()
            except Status as status:
                if is_end(status):
                    return
                raise
            except Garbled as error:
                raise self._wire.garbled(str(error)) from error
            if not block:
                raise self._wire.garbled("an empty block before the end of a file")
            at += len(block)
            yield block

    def _entries(self, handle: bytes) -> Iterator[tuple[bytes, Attributes]]:
        while True:
            try:
                reader = self._wire.ask(Kind.NAME, Kind.READDIR, text(handle))
                count = reader.number()
                if count == 0:
                    raise self._wire.garbled("a listing went on without a name")
                for _ in range(count):
                    name, _long = reader.text(), reader.text()
                    yield name, reader.attributes()
            except Status as status:
                if is_end(status):
                    return
                raise
            except Garbled as error:
                raise self._wire.garbled(str(error)) from error
