"""The transactions in which the application runs its statements, step by step, and what a step answers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from exports.actions.request_cancellation import decide
from exports.models import ExportJob
from exports.states import CancellationOutcome, Role, Status
from tests.interleavings.rules import APPLIED, MISSING, REFUSED, SEEN, TAKEN
from tests.interleavings.world import uid

if TYPE_CHECKING:
    from tests.interleavings.rules import Call
    from tests.interleavings.sessions import Result

LOOK_UP = "SELECT job_id FROM cancellation_requests WHERE tenant_id = %(tenant_id)s AND id = %(request_id)s"
"""The application's look for an earlier submission of the same click, under the row's lock."""
COUNT = """
SELECT id FROM export_jobs WHERE destination_id = %(destination_id)s AND status IN ('Running', 'Delivering')
"""
"""The application's count of a destination's slots under its gate; here every destination has one."""
UNIQUE_VIOLATION = "23505"


@dataclass(frozen=True, slots=True)
class Step:
    """One statement with what it is called with; one with a text of its own is no write and no turn by itself."""

    statement: str
    call: Call
    text: str | None = None

    def answer(self, result: Result) -> str:
        """Return in one word what the statement answered."""
        if result.sqlstate is not None:
            return TAKEN if result.sqlstate == UNIQUE_VIOLATION else f"error {result.sqlstate}: {result.error}"
        return _ANSWERS.get(self.statement, _applied)(result.rows, self.call)


Rows = list[tuple[str | None, ...]]
Program = Generator[Step, "Result", None]
Begins = Callable[["Call"], Program]


def single(statement: str) -> Begins:
    """Return the program that is this one statement."""

    def program(call: Call) -> Program:
        yield Step(statement, call)

    return program


def click(call: Call) -> Program:
    """Lock, look, decide with the application's own rule, apply, record: a click on cancel."""
    locked = yield Step("lock_for_cancellation", call)
    if len(locked.rows) != 1:
        return
    if (yield Step("look up the click", call, LOOK_UP)).rows:
        return
    job = _row(locked.rows[0])
    outcome = decide(Status(job.status), stop_requested=job.stop_request_id is not None)
    if outcome in _CHANGES and not (yield Step(_CHANGES[outcome], call)).rows:
        return  # the application raises ChangedUnderLock; that the write was refused is already a wrong answer
    found = (job.status, job.attempt_id, job.attempt_count, job.delivery_authorized_at)
    yield Step("record_cancellation", replace(call, outcome=outcome.value, found=found))


_CHANGES = {
    CancellationOutcome.CANCELED_WHILE_QUEUED: "cancel_queued",
    CancellationOutcome.STOP_REQUESTED: "request_stop",
}


def claim_a_slot(call: Call) -> Program:
    """Take the gate, count, then claim, or record that the destination is full: a claim where slots are limited."""
    yield Step("lock_gate", call)
    taken = yield Step("count the slots", call, COUNT)
    yield Step("open_hold" if taken.rows else "claim", call)


def dispatch(call: Call) -> Program:
    """Take a batch, mark it: what a dispatcher does around its publishing."""
    taken = yield Step("take_outbox", call)
    if (str(uid(call.message)),) in {row[:1] for row in taken.rows}:
        yield Step("mark_published", call)


PROGRAMS: dict[str, tuple[Role, Begins, tuple[str, ...]]] = {
    "cancel": (Role.API, click, ("lock_for_cancellation", "cancel_queued", "request_stop", "record_cancellation")),
    "claim a slot": (Role.WORKER, claim_a_slot, ("lock_gate", "claim", "open_hold")),
    "dispatch": (Role.DISPATCHER, dispatch, ("take_outbox", "mark_published")),
}
"""Transactions of several statements: who runs them, how, and which statements they consist of."""


def statements_of(program: str) -> tuple[str, ...]:
    """Return the statements a program may run; any other name is a statement by itself."""
    return PROGRAMS[program][2] if program in PROGRAMS else (program,)


def _row(columns: tuple[Any, ...]) -> Any:
    """Return the row as the application makes it of the locking read's columns."""
    model: Any = ExportJob
    return model(*columns)


def _applied(rows: Rows, _: Call) -> str:
    return {0: REFUSED, 1: APPLIED}.get(len(rows), f"{len(rows)} rows")


def _word(rows: Rows, _: Call) -> str:
    return str(rows[0][0])


def _found(rows: Rows, call: Call) -> str:
    if len(rows) != 1:
        return MISSING if not rows else _applied(rows, call)
    job = _row(rows[0])
    return f"Found {job.status}{' asked to stop' if job.stop_request_id else ''}"


def _swept(rows: Rows, call: Call) -> str:
    return APPLIED if (str(uid(call.target)),) in rows else REFUSED


def _handled(rows: Rows, call: Call) -> str:
    return APPLIED if (str(uid(call.message)),) in {row[:1] for row in rows} else REFUSED


def _seen(rows: Rows, _: Call) -> str:
    return SEEN if rows else MISSING


_ANSWERS: dict[str, Callable[[Rows, Call], str]] = {
    "authorize_delivery": _word,
    "lock_for_cancellation": _found,
    "look up the click": _seen,
    "count the slots": _seen,
    "sweep": _swept,
    "wake_waiting": _swept,
    "take_outbox": _handled,
    "mark_published": _handled,
}
