"""What each statement is expected to lock and to do, stated a second time: from the table of transitions.

A rule knows nothing of SQL. It says from where the statement moves an export, what it asks beside the status, and
which rows it waits for; the schedules hold the statements to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from exports.states import FailureReason, Role, Status
from tests.interleavings.world import BERT, OURS, Job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

APPLIED, REFUSED, TAKEN, SEEN, MISSING = "Applied", "Refused", "Taken", "Seen", "Missing"
"""A conditional write's two answers, a unique violation, and the two of a look."""


class Mode(Enum):
    """How a row is held."""

    KEY_SHARE = "FOR KEY SHARE"
    SHARE = "FOR SHARE"
    CHANGE = "FOR NO KEY UPDATE"
    INSERT = "an entry in a unique index"


_AGREE = {(Mode.KEY_SHARE, Mode.KEY_SHARE), (Mode.KEY_SHARE, Mode.SHARE), (Mode.KEY_SHARE, Mode.CHANGE)}
_AGREE |= {(Mode.SHARE, Mode.SHARE)}


def conflict(one: Mode, other: Mode) -> bool:
    """Say whether two transactions cannot hold a row in these ways at once."""
    return (one, other) not in _AGREE and (other, one) not in _AGREE


@dataclass(frozen=True, slots=True)
class Lock:
    """One thing a statement waits for."""

    resource: str
    mode: Mode
    is_certain: bool = True
    """Whether it is due; else the server may take it or find out first that there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a statement is called with."""

    target: str
    attempt: str = ""
    tenant: str = OURS
    version: int = 1
    to: Status = Status.COMPLETED
    recorded: Status = Status.COMPLETED
    reason: FailureReason | None = None
    destination: str = "second"
    person: str = BERT
    request: str = ""
    new: str = ""
    key: str = "key"
    message: str = ""
    anyone: bool = False
    """Whether the waker is asked for whoever waits at the destination, not for this export."""
    evidence: str = "seen"
    judged: int = 0
    """How many pieces of evidence a verdict rests on."""
    allow_same_person: bool = False
    outcome: str = ""
    found: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """What a statement sees: rows, and which of them other transactions hold."""

    rows: Mapping[str, Any]
    held: frozenset[str] = frozenset()

    def job(self, name: str) -> Job:
        """Return the row of an export."""
        row: Job = self.rows[name]
        return row


Change = dict[str, Any]
"""Rows by name, as a statement leaves them: changed, or only held."""


class Expected(Protocol):
    """What is expected of one statement."""

    @property
    def role(self) -> Role:
        """The login that runs it."""

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Return what it waits for, in order, as it finds the rows when it starts."""

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Return its answer once it waits no more, and the rows it leaves changed or held."""


@dataclass(frozen=True)
class Rule:
    """One statement's effect on one export."""

    role: Role
    moves: frozenset[tuple[Status, Status]]
    asks: tuple[Callable[[Job, Call, View], bool], ...] = ()
    sets: Callable[[Job, Call], Job] = lambda job, _: job
    chosen: bool = False
    """Whether the caller chooses where to."""
    later: tuple[Callable[[Job, Call, View], bool], ...] | None = None
    """What is asked of the row once it is locked by its id; None: the statement locks only what it changes."""

    def target(self, job: Job, call: Call) -> Status | None:
        """Return where the statement would bring a row of this status, or None: nowhere."""
        found = {to for origin, to in self.moves if origin is job.status and (not self.chosen or to is call.to)}
        return found.pop() if len(found) == 1 else None

    def allows(self, job: Job, call: Call, view: View) -> bool:
        """Say whether everything the statement asks holds."""
        return self.nominates(job, call, view) and all(ask(job, call, view) for ask in self.later or ())

    def nominates(self, job: Job, call: Call, view: View) -> bool:
        """Say whether what it asks before any lock holds."""
        return self.target(job, call) is not None and all(ask(job, call, view) for ask in self.asks)

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Return what the statement locks, as it finds the rows when it starts."""
        is_nominated = self.nominates(view.job(call.target), call, view)
        return [Lock(call.target, Mode.CHANGE, is_nominated)] if is_nominated or self.later is not None else []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Return the answer, and the rows it leaves changed."""
        job = view.job(call.target)
        if not self.allows(job, call, view):
            return REFUSED, {}
        to = self.target(job, call)
        assert to is not None
        moved = self.sets(replace(job, status=to), call)
        if moved.holds_the_slot and not job.holds_the_slot and slot_holder(view, moved.original) is not None:
            return TAKEN, {}
        return APPLIED, {job.name: moved}


def evidence_of(view: View, attempt: str) -> int:
    """Return how many pieces of evidence an attempt has."""
    return sum(name.startswith(f"evidence of {attempt}:") for name in view.rows)


def slot_holder(view: View, original: str | None) -> str | None:
    """Return the replacement that keeps this original from another one."""
    jobs = (row for row in view.rows.values() if isinstance(row, Job))
    return next((job.name for job in jobs if job.original == original and job.holds_the_slot), None)
