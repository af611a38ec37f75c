"""What a probe may try in a scratch folder, request by request, and nothing about what that means.

A scratch belongs to one session and works in that session's directory of final names alone. Like the session it
raises nothing for what the world can break, and every call is bounded in time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from exports.destinations.naming import is_plain
from exports.evidence import Accepted, Answer, NoReply, Phase, Refused, Sighting

_UNSUPPORTED: Final = 8


@dataclass(frozen=True)
class Part:
    """One part of creating a file: what it was answered, and how long that took."""

    phase: Phase
    answer: Answer
    seconds: float

    @property
    def lets_go_on(self) -> bool:
        """Whether the next part may follow: a flush that is not supported after all is no failure."""
        match self.answer:
            case Accepted():
                return True
            case Refused(code=code):
                return self.phase is Phase.FSYNC and code == _UNSUPPORTED
            case NoReply():
                return False


Failed = Refused | NoReply
"""Why there is nothing to show."""


class Scratch(Protocol):
    """The requests of a probe. Names are plain: no path can leave the folder."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """What the server says it offers beyond the protocol, as shown; empty for a mounted share."""

    def folder(self) -> Sighting:
        """Say what the folder itself is."""

    def create(self, name: str, content: bytes) -> tuple[Part, ...]:
        """Create a file that must not exist yet: open, write, flush where that is offered, close.

        The parts end with the first that was not accepted.
        """

    def look(self, name: str) -> Sighting:
        """Say what stands under a name."""

    def listed(self) -> frozenset[str] | Failed:
        """List the folder's names, as shown."""

    def read(self, name: str, most_bytes: int) -> bytes | Failed:
        """Read a file of at most so many bytes; one that is longer is none of ours."""

    def sha256(self, name: str) -> str | Failed:
        """Ask the destination itself for a file's SHA-256 (hex)."""

    def rename(self, old: str, new: str) -> Answer:
        """Rename plainly."""

    def link(self, old: str, new: str) -> Answer:
        """Give a file a second name."""

    def replace(self, old: str, new: str) -> Answer:
        """Rename by the form that replaces what stands under the new name in one step."""

    def remove(self, name: str) -> Answer:
        """Remove a name."""


def timed(phase: Phase, act: Callable[[], Answer]) -> Part:
    """Do one part and take its time."""
    began = time.monotonic()
    answer = act()
    return Part(phase, answer, time.monotonic() - began)


def in_turn(*parts: tuple[Phase, Callable[[], Answer]]) -> tuple[Part, ...]:
    """Do parts in order, up to the first that is not accepted."""
    done: list[Part] = []
    for phase, act in parts:
        done.append(timed(phase, act))
        if not done[-1].lets_go_on:
            break
    return tuple(done)


def plain(name: str) -> str:
    """Return a name that cannot leave its folder; anything else is a bug of the caller's."""
    if not is_plain(name):
        raise ValueError("a probe uses plain names only")
    return name
