"""What a session of a schedule is about to do, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from exports.sql import STATEMENTS
from exports.states import Authorization
from tests.interleavings.binding import WOKEN_BEFORE, parameters
from tests.interleavings.rules import APPLIED, Call
from tests.interleavings.special import EXPECTED
from tests.interleavings.steps import PROGRAMS, Program, Step, single, statements_of
from tests.interleavings.world import OURS, uid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exports.states import Role
    from tests.interleavings.sessions import Result, Session


_COMPOSED: dict[tuple[str, Call, int], str] = {}
"""Statements with their parameters in them: the same few thousand in tens of thousands of schedules."""


def compose(session: Session, text: str, call: Call, index: int) -> str:
    """Return a statement with its parameters in it."""
    if (text, call, index) not in _COMPOSED:
        _COMPOSED[text, call, index] = session.compose(text, parameters(call, index))
    half_a_minute_ago = datetime.now(tz=UTC) - timedelta(seconds=30)
    return _COMPOSED[text, call, index].replace(WOKEN_BEFORE, half_a_minute_ago.isoformat())


@dataclass(frozen=True, slots=True)
class Action:
    """One thing somebody does: a program, and what it is called with."""

    name: str
    program: str
    call: Call
    is_edge: bool = False
    """Whether it should never apply where it stands: another tenant's, another attempt's, a wrong request."""

    @property
    def role(self) -> Role:
        """The login under which it is done."""
        return PROGRAMS[self.program][0] if self.program in PROGRAMS else EXPECTED[self.program].role

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements it may run."""
        return statements_of(self.program)

    def begin(self) -> Program:
        """Return a fresh run of its program."""
        return (PROGRAMS[self.program][1] if self.program in PROGRAMS else single(self.program))(self.call)


@dataclass
class Actor:
    """One session in one schedule."""

    name: str
    index: int
    action: Action
    session: Session
    texts: Mapping[str, str]
    step: Step | None = None
    """The statement that comes next, or that is under way."""
    is_blocked: bool = False
    """Whether its statement is under way and has not answered."""
    told: list[dict[str, Any]] = field(default_factory=list)
    done: list[Step] = field(default_factory=list)
    """The statements executed in its transaction."""
    started_after: int = 0
    """How many writes were committed when its statement started."""
    has_lapsed: bool = False
    began: bool = False
    ended: bool = False

    def __post_init__(self) -> None:
        self._program = self.action.begin()
        self.step = next(self._program)

    def send(self) -> None:
        """Start the next statement, opening the transaction with the first."""
        assert self.step is not None
        text = self.step.text or self.texts.get(self.step.statement) or STATEMENTS[self.step.statement].text
        statement = compose(self.session, text, self.step.call, self.index)
        self.session.send(statement if self.began else f"BEGIN; {statement}")
        self.began = self.is_blocked = True

    def receive(self, result: Result) -> str:
        """Take the answer of the statement that was under way, and find out what comes next."""
        assert self.step is not None
        self.is_blocked = False
        answer = self.step.answer(result)
        if self.step.text is None:
            self.told.append(self._note(self.step, answer, result))
            self.done.append(self.step)
        self.step = None
        if result.sqlstate is None:
            self.step = self._next(result)
        return answer

    def _next(self, result: Result) -> Step | None:
        try:
            return self._program.send(result)
        except StopIteration:
            return None

    def _note(self, step: Step, answer: str, result: Result) -> dict[str, Any]:
        call = step.call
        return {
            "session": self.name,
            "program": self.action.program,
            "statement": step.statement,
            "answer": answer,
            "applied": answer in {APPLIED, Authorization.AUTHORIZED},
            "handled": [row[0] for row in result.rows] if step.statement in HANDLES else [],
            "returned": result.rows[0][0] if result.rows else None,
            "ours": call.tenant == OURS,
            "job_id": str(uid(call.target or call.new)),
            "new_id": str(uid(call.new)),
            "attempt_id": str(uid(call.attempt)),
            "version": call.version,
            "destination_id": str(uid(call.destination)),
            "recorded": call.recorded,
            "has_lapsed": self.has_lapsed,
            "judged": call.judged,
            "started_after": self.started_after,
            "allowed": call.allow_same_person,
        }


HANDLES = frozenset({"take_outbox", "mark_published"})
"""Statements whose rows are wake-ups."""
