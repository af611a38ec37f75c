"""The scratch folder in a probe's hands: fresh names, what should stand under each, and leaving nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from exports.evidence import Absent, Accepted, Answer, NoReply, Present, Refused
from exports.probing.steps import Ended, in_words

if TYPE_CHECKING:
    from exports.destinations.scratch import Scratch

PREFIX: Final = "probe-"
"""Every name of every probe begins so; whoever finds one knows whose it is."""

_NO_SUCH_FILE: Final = 2


class Folder:
    """One probe's files. Every name is used for one purpose, contains the probe's id, and is remembered."""

    def __init__(self, scratch: Scratch, probe_id: str) -> None:
        self.scratch = scratch
        self.made: list[str] = []
        """Names under which something of ours may stand, in the order they were first used."""
        self.creates_exclusively = False
        self._probe_id: Final = probe_id

    def name(self) -> str:
        """Return a name that nothing stands under yet."""
        self.made.append(f"{PREFIX}{self._probe_id}-{len(self.made) + 1}")
        return self.made[-1]

    def fresh(self) -> str:
        """Create a small file of its own content; raises Ended when the folder takes no more."""
        name = self.name()
        last = self.scratch.create(name, content_of(name))[-1]
        if not isinstance(last.answer, Accepted):
            raise Ended(f"A further file could not be created in the scratch folder: {in_words(last.answer)}.")
        return name

    def stands(self, name: str) -> bool | None:
        """Whether something stands under a name; None where nobody can tell.

        Where looking is forbidden, exclusive creation tells: it is refused for a name that is taken. What it
        creates by that is remembered like everything else.
        """
        match self.scratch.look(name):
            case Present():
                return True
            case Absent():
                return False
            case _:
                return self._is_taken(name)

    def holds(self, name: str, content: bytes) -> bool | None:
        """Whether a name stands for exactly this content, as far as one may look: None where one may not."""
        seen = self.scratch.look(name)
        if isinstance(seen, Absent) or (isinstance(seen, Present) and seen.size not in (None, len(content))):
            return False
        found = self.scratch.read(name, len(content))
        if isinstance(found, bytes):
            return found == content
        # Nothing may be read: a size that fits says as much as can be known, since neighbours differ in size.
        return True if isinstance(seen, Present) and seen.size is not None else None

    def clean_up(self) -> tuple[str, ...]:
        """Remove every name of ours; return those under which something may still stand."""
        return tuple(name for name in self.made if not self._is_gone(name))

    def earlier(self) -> int:
        """Count what earlier probes left here, as far as the folder may be listed."""
        names = self.scratch.listed()
        found = names if isinstance(names, frozenset) else ()
        return sum(name.startswith(PREFIX) and self._probe_id not in name for name in found)

    def _is_taken(self, name: str) -> bool | None:
        if not self.creates_exclusively:
            return None
        answer = self.scratch.create(name, b"")[0].answer
        return None if isinstance(answer, NoReply) else isinstance(answer, Refused)

    def _is_gone(self, name: str) -> bool:
        answer: Answer = self.scratch.remove(name)
        match answer:
            case Accepted():
                return True
            case Refused(code=code) if code == _NO_SUCH_FILE:
                return True
            case Refused():
                return isinstance(self.scratch.look(name), Absent)
            case NoReply():
                return False


def content_of(name: str) -> bytes:
    """Return what a probe's small file holds: different for every name, and different in size for neighbours."""
    return name.encode() * (1 + sum(name.encode()) % 7)
