"""What is tried in the scratch folder, one question after the other, each with files of its own.

The order matters only in that what shows whether something stands under a name comes before what needs to know.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

from exports.evidence import Absent, Accepted, Answer, Forbidden, NoReply, Phase, Present, Refused, Trouble, Unanswered
from exports.probing.folder import Folder, content_of
from exports.probing.report import StepName
from exports.probing.steps import Ended, Said, Steps, failed, in_words, no, skipped, yes

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.destinations.scratch import Part

FIRST_BYTES: Final = 1024 * 1024
"""The first file fills the window of outstanding writes once; all others are tiny."""

_STEP_OF: Final = {
    Phase.OPEN: StepName.CREATE,
    Phase.WRITE: StepName.WRITE,
    Phase.FSYNC: StepName.FLUSH,
    Phase.CLOSE: StepName.CLOSE,
}


class Trials:
    """The questions, asked of one folder."""

    def __init__(self, folder: Folder, steps: Steps) -> None:
        self._folder: Final = folder
        self._steps: Final = steps
        self._content: Final = os.urandom(FIRST_BYTES)
        self._first: Final = folder.name()

    def run(self) -> None:
        """Ask everything; raises Ended when nothing further can be asked."""
        self._steps.take(StepName.SCRATCH, self._find)
        self._create()
        self._look()
        self._publish()

    def _look(self) -> None:
        take = self._steps.take
        take(StepName.SIZE, self._size, "may_stat")
        take(StepName.LIST, self._list, "may_list")
        take(StepName.READ, self._read, "may_read")
        take(StepName.HASH, self._hash, "hashes_sha256")
        is_exclusive = take(StepName.EXCLUSIVE, self._create_again, "create_refuses_existing")
        self._folder.creates_exclusively = bool(is_exclusive)
        take(StepName.REMOVE, self._remove, "may_remove")

    def _publish(self) -> None:
        take, scratch = self._steps.take, self._folder.scratch
        renames = take(StepName.RENAME, lambda: self._to_free(scratch.rename, keeps_old=False), "rename_works")
        onto = self._onto_taken(scratch.rename, offered=renames)
        take(StepName.RENAME_TAKEN, onto, "rename_refuses_existing")
        links = take(StepName.LINK, lambda: self._to_free(scratch.link, keeps_old=True), "link_works")
        onto = self._onto_taken(scratch.link, offered=links)
        take(StepName.LINK_TAKEN, onto, "link_refuses_existing")
        take(StepName.LINK_REMAINS, lambda: self._remains(offered=links), "link_remains")
        take(StepName.REPLACE, self._replace, "replaces_atomically")

    def _find(self) -> Said:
        match self._folder.scratch.folder():
            case Present():
                return yes("it is there")
            case Absent():
                raise Ended("The scratch folder that the contract agrees on does not exist at the partner.")
            case other:
                return _unseen(other) or skipped(f"it may not be looked at{_told(other)}; trying it all the same")

    def _create(self) -> None:
        """Create the first file, part by part; without it nothing can be learned."""
        parts = self._folder.scratch.create(self._first, self._content)
        for part in parts:
            self._note(part)
        if Phase.FSYNC not in {part.phase for part in parts}:
            self._steps.note(StepName.FLUSH, skipped("the server does not offer it"), 0.0)
        last = parts[-1]
        if not last.lets_go_on:
            raise Ended(f"No file could be made in the scratch folder; {last.phase}: {in_words(last.answer)}.")

    def _note(self, part: Part) -> None:
        said = yes("accepted") if isinstance(part.answer, Accepted) else no(in_words(part.answer))
        said = failed(said.words) if isinstance(part.answer, NoReply) else said
        finding = "flushes" if part.phase is Phase.FSYNC else ""
        self._steps.note(_STEP_OF[part.phase], said, part.seconds, finding)

    def _size(self) -> Said:
        unused = self._folder.scratch.look(self._folder.name())
        match self._folder.scratch.look(self._first):
            case Present(size=size) if size == FIRST_BYTES:
                told = isinstance(unused, Absent)
                return yes(f"{size} bytes, as written") if told else no("a name that is not there is not told apart")
            case Present(size=size):
                return no(f"{'no size' if size is None else size} is shown instead of {FIRST_BYTES} bytes")
            case Absent():
                raise Ended(
                    "The first file was accepted and is gone: a quota took it at CLOSE, or somebody takes files."
                )
            case other:
                return _unseen(other) or no(f"looking is not permitted{_told(other)}")

    def _create_again(self) -> Said:
        answer = self._folder.scratch.create(self._first, b"again")[0].answer
        match answer:
            case Refused():
                return yes(in_words(answer))
            case Accepted():
                return no("the file was opened a second time: exclusive creation is ignored")
            case NoReply():
                return failed(in_words(answer))

    def _list(self) -> Said:
        names = self._folder.scratch.listed()
        if not isinstance(names, frozenset):
            return no(in_words(names))
        return (
            yes("the file that was made is listed")
            if self._first in names
            else no("the file that was made is not listed")
        )

    def _read(self) -> Said:
        content = self._folder.scratch.read(self._first, FIRST_BYTES)
        if not isinstance(content, bytes):
            return no(in_words(content))
        return yes("the same bytes") if content == self._content else no("other bytes came back than were written")

    def _hash(self) -> Said:
        told = self._folder.scratch.sha256(self._first)
        if not isinstance(told, str):
            return no(in_words(told))
        same = told == hashlib.sha256(self._content).hexdigest()
        return yes("it is the content's") if same else no("it is not the content's")

    def _remove(self) -> Said:
        name = self._folder.fresh()
        answer = self._folder.scratch.remove(name)
        if not isinstance(answer, Accepted):
            return _refused(answer)
        return no("accepted, but the file is still there") if self._folder.stands(name) else yes("accepted")

    def _to_free(self, ask: Callable[[str, str], Answer], *, keeps_old: bool) -> Said:
        old, new = self._folder.fresh(), self._folder.name()
        answer = ask(old, new)
        if not isinstance(answer, Accepted):
            return _refused(answer)
        there = self._folder.holds(new, content_of(old))
        there = self._folder.stands(new) if there is None else there
        if there is None:
            return skipped("accepted; nothing can be looked at to confirm it")
        if not there:
            return no("accepted, but the file does not stand under the new name: the answer is not honest")
        if self._folder.stands(old) is not keeps_old:
            return no(f"accepted, but the old name {'is gone' if keeps_old else 'is still there'}")
        return yes("accepted, and the file stands under the new name")

    def _onto_taken(self, ask: Callable[[str, str], Answer], *, offered: bool | None) -> Callable[[], Said]:
        return lambda: skipped("not offered") if offered is False else self._asked_onto_taken(ask)

    def _asked_onto_taken(self, ask: Callable[[str, str], Answer]) -> Said:
        old, taken = self._folder.fresh(), self._folder.fresh()
        answer = ask(old, taken)
        match answer:
            case NoReply():
                return failed(in_words(answer))
            case Accepted():
                replaced = self._folder.holds(taken, content_of(old))
                return no("accepted: it replaced the file" if replaced else "accepted, although the name is taken")
            case Refused():
                kept = self._folder.holds(taken, content_of(taken))
                if kept is False:
                    return no(f"{in_words(answer)}, but the file under the taken name is another one now")
                return yes(in_words(answer) + ("" if kept else "; nothing can be looked at to confirm it"))

    def _remains(self, *, offered: bool | None) -> Said:
        if offered is False:
            return skipped("not offered")
        old, new = self._folder.fresh(), self._folder.name()
        for answer in (self._folder.scratch.link(old, new), self._folder.scratch.remove(old)):
            if not isinstance(answer, Accepted):
                return skipped(in_words(answer))
        there = self._folder.holds(new, content_of(old))
        there = self._folder.stands(new) if there is None else there
        return yes("the second name stays") if there else no("the second name is gone with the first, or unseen")

    def _replace(self) -> Said:
        old, taken = self._folder.fresh(), self._folder.fresh()
        answer = self._folder.scratch.replace(old, taken)
        if not isinstance(answer, Accepted):
            return _refused(answer)
        replaced = self._folder.holds(taken, content_of(old))
        return no("accepted, but the old file still stands there") if replaced is False else yes("accepted")


def _unseen(seen: Forbidden | Unanswered) -> Said | None:
    """Say that no answer came, unless the server gave one."""
    answered = isinstance(seen, Forbidden) or seen.trouble is Trouble.STATUS
    return None if answered else failed(f"no answer came{_told(seen)}")


def _told(seen: Forbidden | Unanswered) -> str:
    return f" ({seen.text})" if seen.text else ""


def _refused(answer: Answer) -> Said:
    return failed(in_words(answer)) if isinstance(answer, NoReply) else no(in_words(answer))
