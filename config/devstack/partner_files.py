"""An account's files as the partner serves them, with a journal of what was done to which name.

Only what came in through the server stands there, in the order in which it happened: what people and tests do in the
directory themselves does not. The journal tells whether any name was ever written twice or seen half-written.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum, unique
from typing import Any

import asyncssh


@unique
class Did(StrEnum):
    """What was done to a name."""

    CREATED = "created"
    OPENED = "opened"
    """For writing, without asking that it be new."""
    LINKED = "linked"
    RENAMED = "renamed"
    REPLACED = "replaced"
    """By the one request that says it overwrites."""
    REMOVED = "removed"


@dataclass(frozen=True)
class Event:
    """One thing done: `stood` if the name was taken, `half_written` if somebody still wrote to the file."""

    did: Did
    path: str
    stood: bool = False
    half_written: bool = False

    def plain(self) -> dict[str, Any]:
        """Return its fields, for a line of JSON."""
        return asdict(self)


Note = Callable[[Event], None]


class JournaledFiles(asyncssh.SFTPServer):
    """The library's server over a directory; every successful request about a name is noted."""

    _open: Counter[str] = Counter()

    def __init__(self, chan: Any, root: os.PathLike[str], note: Note) -> None:
        super().__init__(chan, chroot=os.fsencode(root))
        self._note = note
        self._written: dict[object, str] = {}

    def open(self, path: bytes, pflags: int, attrs: Any) -> Any:
        """Note a file that is opened to be written, and that it is open."""
        where = self._real(path)
        opened = super().open(path, pflags, attrs)
        if pflags & asyncssh.FXF_WRITE:
            self._written[opened] = where
            self._open[where] += 1
            self._note(Event(Did.CREATED if pflags & asyncssh.FXF_EXCL else Did.OPENED, where))
        return opened

    def close(self, file_obj: object) -> Any:
        """Know that a file is complete."""
        where = self._written.pop(file_obj, None)
        if where is not None:
            self._open[where] -= 1
        return super().close(file_obj)

    def exit(self) -> None:
        """Forget what a connection that is gone had open: nobody writes there any more."""
        for where in self._written.values():
            self._open[where] -= 1
        self._written.clear()
        super().exit()

    def link(self, oldpath: bytes, newpath: bytes) -> Any:
        """Note a second name."""
        return self._named(Did.LINKED, oldpath, newpath, super().link)

    def rename(self, oldpath: bytes, newpath: bytes) -> Any:
        """Note another name."""
        return self._named(Did.RENAMED, oldpath, newpath, super().rename)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        """Note another name that may have been taken."""
        return self._named(Did.REPLACED, oldpath, newpath, super().posix_rename)

    def remove(self, path: bytes) -> Any:
        """Note a name that is gone."""
        done = super().remove(path)
        self._note(Event(Did.REMOVED, self._real(path)))
        return done

    def _named(self, did: Did, old: bytes, new: bytes, act: Callable[[bytes, bytes], Any]) -> Any:
        source, target = self._real(old), self._real(new)
        event = Event(did, target, os.path.lexists(target), self._open[source] > 0)
        done = act(old, new)
        assert not inspect.isawaitable(done), "the library's server answers at once"  # noqa: S101 - a newer one might not
        self._note(event)
        return done

    def _real(self, path: bytes) -> str:
        return os.fsdecode(self.map_path(path))
