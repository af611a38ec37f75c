"""SFTP version 3 on paper: numbers of the protocol, and reading and writing its fields.

Everything read here comes from a stranger: lengths are checked against what is there, and a field that does
not fit is `Garbled`.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum, unique
from typing import Final


@unique
class Kind(IntEnum):
    """Packet types (draft-ietf-secsh-filexfer-02)."""

    INIT = 1
    VERSION = 2
    OPEN = 3
    CLOSE = 4
    READ = 5
    WRITE = 6
    LSTAT = 7
    OPENDIR = 11
    READDIR = 12
    REMOVE = 13
    REALPATH = 16
    RENAME = 18
    STATUS = 101
    HANDLE = 102
    DATA = 103
    NAME = 104
    ATTRS = 105
    EXTENDED = 200
    EXTENDED_REPLY = 201


OK: Final = 0
EOF: Final = 1
NO_SUCH_FILE: Final = 2
PERMISSION_DENIED: Final = 3
FAILURE: Final = 4
UNSUPPORTED: Final = 8

OPEN_READ: Final = 0x01
OPEN_WRITE_NEW: Final = 0x02 | 0x08 | 0x20
"""Write, create, and fail if the name exists."""

_ATTR_SIZE: Final = 0x01
_ATTR_OWNER: Final = 0x02
_ATTR_PERMISSIONS: Final = 0x04
_ATTR_TIMES: Final = 0x08
_ATTR_EXTENDED: Final = 0x80000000
_TYPE_MASK: Final = 0o170000
_REGULAR: Final = 0o100000
_MOST_EXTENDED: Final = 64  # attribute extensions in one answer; nobody sends more than a few


class Garbled(Exception):  # noqa: N818 - says what the answer is
    """An answer that does not follow the protocol."""


@dataclass(frozen=True)
class Attributes:
    """What is told about a file. `size` is None where the server does not say; so is `regular`."""

    size: int | None
    regular: bool | None


def text(value: str | bytes) -> bytes:
    """Return a string field: its length, then its bytes."""
    raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return struct.pack(">I", len(raw)) + raw


def number(value: int) -> bytes:
    """Return a 32-bit field."""
    return struct.pack(">I", value)


def long_number(value: int) -> bytes:
    """Return a 64-bit field."""
    return struct.pack(">Q", value)


NO_ATTRIBUTES: Final = number(0)
"""An attribute block that sets nothing: permissions and times are left to the partner."""


class Reader:
    """Reads the fields of one packet in order."""

    def __init__(self, data: bytes) -> None:
        self._data: Final = data
        self._at = 0

    def raw(self, length: int) -> bytes:
        """Take so many bytes; Garbled when they are not there."""
        end = self._at + length
        if end > len(self._data):
            raise Garbled("a field ends after its packet")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def number(self) -> int:
        """Take a 32-bit field."""
        return int.from_bytes(self.raw(4), "big")

    def long_number(self) -> int:
        """Take a 64-bit field."""
        return int.from_bytes(self.raw(8), "big")

    def text(self) -> bytes:
        """Take a string field, as the bytes it is."""
        return self.raw(self.number())

    def rest(self) -> bytes:
        """Take everything that is left."""
        return self.raw(len(self._data) - self._at)

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._data)

    def attributes(self) -> Attributes:
        """Take an attribute block, keeping size and type."""
        flags = self.number()
        size = self.long_number() if flags & _ATTR_SIZE else None
        if flags & _ATTR_OWNER:
            self.raw(8)
        mode = self.number() if flags & _ATTR_PERMISSIONS else None
        if flags & _ATTR_TIMES:
            self.raw(8)
        if flags & _ATTR_EXTENDED:
            self._skip_extended()
        return Attributes(size, _is_regular(mode))

    def _skip_extended(self) -> None:
        count = self.number()
        if count > _MOST_EXTENDED:
            raise Garbled("too many extended attributes")
        for _ in range(2 * count):
            self.text()


def _is_regular(mode: int | None) -> bool | None:
    """Return None for permissions without a type, which some servers send: they say nothing about it."""
    kind = 0 if mode is None else mode & _TYPE_MASK
    return None if kind == 0 else kind == _REGULAR
