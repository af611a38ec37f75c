"""A watcher at the partner's directory: every event on every name, by inotify, so that nothing escapes a poll."""

import ctypes
import os
import select
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

MODIFY, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
_ALL = MODIFY | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
_HEADER = struct.Struct("iIII")


@dataclass
class Seen:
    """What happened to which name, in order."""

    events: list[tuple[str, int]] = field(default_factory=list)

    def of(self, name: str, mask: int) -> list[int]:
        """Return the events of some kinds on one name."""
        return [event for each, event in self.events if each == name and event & mask]

    def written_in_place(self, name: str) -> list[int]:
        """Return the writes to a file under this name itself; a published name must have none."""
        return self.of(name, MODIFY | CLOSE_WRITE)

    def appearances(self, name: str) -> int:
        """Return how often the name came into being or was replaced."""
        return len(self.of(name, CREATE | MOVED_TO))


@contextmanager
def watching(directory: Path) -> Iterator[Seen]:
    """Record events until the block is left; what is asserted afterwards has been read completely."""
    if sys.platform != "linux":
        pytest.skip("events are watched through inotify")
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0 or libc.inotify_add_watch(descriptor, os.fsencode(directory), _ALL) < 0:
        raise OSError(ctypes.get_errno(), "the directory cannot be watched")
    seen = Seen()
    try:
        yield seen
        seen.events.extend(_read(descriptor))
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> Iterator[tuple[str, int]]:
    """Return every event so far: the kernel queues them at the moment they happen."""
    while select.select([descriptor], [], [], 0)[0]:
        data = os.read(descriptor, 65_536)
        at = 0
        while at < len(data):
            _watch, mask, _cookie, length = _HEADER.unpack_from(data, at)
            at += _HEADER.size
            yield data[at : at + length].rstrip(b"\0").decode(errors="replace"), mask
            at += length
