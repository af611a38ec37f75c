"""The steps of one probe as they end, each timed; and the words for what a server answered."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, assert_never

from exports.evidence import Accepted, Answer, NoReply, Refused
from exports.probing.report import Findings, Outcome, Races, Step, StepName

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.destinations.protocol import Stage


class Ended(Exception):  # noqa: N818 - says what happened to the probe
    """Nothing further can be tried; the words say why."""

    def __init__(self, words: str) -> None:
        self.words: Final = words
        super().__init__(words)


@dataclass(frozen=True, slots=True)
class Said:
    """What one step comes to: how it ended, in words, and what was learned (None: nothing)."""

    outcome: Outcome
    words: str
    learned: bool | None = None


def yes(words: str) -> Said:
    """Say that it is as a delivery would wish."""
    return Said(Outcome.YES, words, learned=True)


def no(words: str) -> Said:
    """Say that it is otherwise."""
    return Said(Outcome.NO, words, learned=False)


def skipped(words: str) -> Said:
    """Say that it was not tried, or that nothing could be seen of it."""
    return Said(Outcome.SKIPPED, words)


def failed(words: str) -> Said:
    """Say that no answer came."""
    return Said(Outcome.FAILED, words)


def in_words(answer: Answer) -> str:
    """Return what a request was answered, for a person."""
    match answer:
        case Accepted():
            return "accepted"
        case Refused():
            said = f": {answer.text}" if answer.text else ""
            return f"refused with status {answer.code}{said}"
        case NoReply():
            return f"no answer came ({answer.text or answer.trouble})"
    assert_never(answer)


class Steps:
    """What was done so far, in order."""

    def __init__(self, is_broken: Callable[[], bool] = bool) -> None:
        self.done: list[Step] = []
        self.is_broken = is_broken
        self.races = Races()
        self._learned: dict[str, bool] = {}
        self._mark = time.monotonic()

    @property
    def findings(self) -> Findings:
        """Everything learned so far."""
        return Findings(races=self.races, **self._learned)

    def take(self, name: StepName, act: Callable[[], Said], finding: str = "") -> bool | None:
        """Take a step, keep what it says, and return what was learned; raises Ended when the connection is lost."""
        began = time.monotonic()
        said = act()
        self.note(name, said, time.monotonic() - began, finding)
        if self.is_broken():
            raise Ended(f"The connection was lost at the step “{self.done[-1].title}”: {said.words}.")
        return said.learned

    def note(self, name: StepName, said: Said, seconds: float, finding: str = "") -> None:
        """Keep a step that was taken elsewhere."""
        self.done.append(Step(name, said.outcome, said.words, round(seconds * 1000)))
        if finding and said.learned is not None:
            self._learned[finding] = said.learned

    def passed(self, stage: Stage) -> None:
        """Keep a stage that an opening session got through."""
        now = time.monotonic()
        self.note(StepName(stage.value), yes(""), now - self._mark)
        self._mark = now

    def stopped_at(self, name: StepName, words: str) -> None:
        """Keep the stage at which opening a session failed."""
        self.note(name, failed(words), time.monotonic() - self._mark)

    def tell(self, name: StepName, words: str) -> None:
        """Give a step that was kept without words what is known by now."""
        self.done = [replace(step, words=words) if step.name is name else step for step in self.done]
