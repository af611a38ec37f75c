"""A probe's calls in a shared directory (implements scratch.Scratch)."""

import hashlib
import os
from collections.abc import Callable
from typing import Any, Final

from exports.destinations.scratch import Failed, Part, in_turn, plain
from exports.destinations.share import Share
from exports.evidence import Accepted, Answer, Phase, Refused, Sighting, shown

_FAILURE: Final = 4
_UNSUPPORTED: Final = 8
_HASHED_BYTES: Final = 16 * 1024 * 1024  # a probe's files are far smaller


class DirectoryScratch:
    """The folder of one session; `seen` and `answer` are the session's own ways of calling within a bound."""

    def __init__(
        self,
        share: Share,
        seen: Callable[[Callable[[], Any]], Sighting],
        answer: Callable[[Callable[[], None]], Answer],
    ) -> None:
        self._share: Final = share
        self._seen: Final = seen
        self._answer: Final = answer

    @property
    def extensions(self) -> tuple[str, ...]:
        """A directory announces nothing."""
        return ()

    def folder(self) -> Sighting:
        """Look at the directory itself."""
        return self._seen(lambda: self._share.size_of_final("."))

    def create(self, name: str, content: bytes) -> tuple[Part, ...]:
        """Create, write, flush, close."""
        opened: list[int] = []
        name = plain(name)
        parts = in_turn(
            (Phase.OPEN, lambda: self._answer(lambda: opened.append(Share.created(self._share.final, name)))),
            (Phase.WRITE, lambda: self._answer(lambda: Share.write(opened[0], content))),
            (Phase.FSYNC, lambda: self._answer(lambda: os.fsync(opened[0]))),
            (Phase.CLOSE, lambda: self._answer(lambda: os.close(opened.pop()))),
        )
        for descriptor in opened:
            self._answer(lambda descriptor=descriptor: os.close(descriptor))  # type: ignore[misc]
        return parts

    def look(self, name: str) -> Sighting:
        """Look at a name, not following a link."""
        return self._seen(lambda: self._share.size_of_final(plain(name)))

    def listed(self) -> frozenset[str] | Failed:
        """List the directory."""
        found: list[str] = []
        answer = self._answer(lambda: found.extend(self._share.names()))
        return frozenset(map(shown, found)) if isinstance(answer, Accepted) else answer

    def read(self, name: str, most_bytes: int) -> bytes | Failed:
        """Read a file."""
        content: list[bytes] = []
        name = plain(name)
        answer = self._answer(lambda: content.append(self._share.head("", name, most_bytes + 1)))
        if not isinstance(answer, Accepted):
            return answer
        return content[0] if len(content[0]) <= most_bytes else Refused(_FAILURE, "more came back than was written")

    def sha256(self, name: str) -> str | Failed:
        """Hash the content; a directory is asked by reading it."""
        content = self.read(name, _HASHED_BYTES)
        return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else content

    def rename(self, old: str, new: str) -> Answer:
        """Refuse without a call: the only rename that a directory has replaces silently."""
        del old, new
        return Refused(_UNSUPPORTED, "a directory has no rename that refuses a taken name")

    def link(self, old: str, new: str) -> Answer:
        """Link."""
        return self._answer(lambda: self._share.link(plain(old), plain(new)))

    def replace(self, old: str, new: str) -> Answer:
        """Rename over what stands there."""
        return self._answer(lambda: self._share.replace(plain(old), plain(new)))

    def remove(self, name: str) -> Answer:
        """Remove a name."""
        return self._answer(lambda: self._share.remove(plain(name)))
