"""Recovery: attempts whose lease has expired are stopped, requeued, exhausted or resolved (reference: Recovery).

Running attempts come first and need no partner. Delivering ones are resolved from their evidence, or asked for
at their partners all at once, and resolved as the answers come. Any number of runs may go on at the same time:
each takeover is one conditional statement, and only one of them can match (I1, I3).
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar, assert_never

from django.db import DatabaseError, InterfaceError, connections

from exports.boundary import Doubt, doubt_of
from exports.errors import ExportError
from exports.evidence import Trouble, Unanswered
from exports.observability import counters
from exports.states import Status
from reconciliation.candidates import expired
from reconciliation.managers import Takeovers
from reconciliation.probe import PATIENCE_SECONDS, Looks
from reconciliation.resolving import Open, Resolver, overdue
from reconciliation.takeover import Came, take_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from reconciliation.candidates import Candidate

logger = logging.getLogger(__name__)

LIMIT = 10_000
"""Attempts resolved by one run; more than any outage leaves behind, and the next run takes the rest."""

RUN_SECONDS = 60.0
"""One lease: a run that took longer would work from a scan older than the leases it judges."""

LOCK_TIMEOUT_MS = 500
"""A cancellation or renewal holds a row for milliseconds; who holds it longer is looked at by the next run."""

MOST_WAITS = 20
"""Rows that a run waits for in vain, ten seconds in all: held by the hundred, they must not use up its time."""

NO_WAIT_MS = 1
"""The least that a lock timeout can be: after those waits, a row that somebody holds is passed over at once."""

MOST_LOSSES = 3
"""Lost connections after which a run ends: the database is away, and the next run will find it again."""

RESOLVED = frozenset({Came.REQUEUED, Came.STOPPED, Came.EXHAUSTED, Came.COMPLETED, Came.OUTCOME_UNKNOWN})

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What one run did, by number of attempts; `finished` is False when it left expired attempts unvisited."""

    requeued: int = 0
    stopped: int = 0
    exhausted: int = 0
    completed: int = 0
    outcome_unknown: int = 0
    waiting: int = 0
    moved_on: int = 0
    skipped: int = 0
    unanswered: int = 0
    failed: int = 0
    finished: bool = True


class DatabaseAway(ExportError):  # noqa: N818 - what happened, not a fault of the run
    """The database was lost too often for this run to go on."""


_looks = Looks()
"""The looks of this process; one that comes back late serves the next run."""


def run() -> Recovered:
    """Recover within the bounds of one run, and log what was found."""
    recovered = run_once(LIMIT, time_budget_seconds=RUN_SECONDS)
    if recovered != Recovered():
        logger.info("recovered", extra=asdict(recovered))
    return recovered


def run_once(
    limit: int, *, time_budget_seconds: float, using: str = "default", looks: Looks | None = None
) -> Recovered:
    """Visit every expired attempt once, until `limit` are resolved or the time is over; return the counts.

    Nothing that happens to one attempt or partner ends the run; only the loss of the database does.
    """
    assert not connections[using].in_atomic_block, "partners are asked outside any transaction"  # noqa: S101 - a bug
    one = Run(limit, time.monotonic() + time_budget_seconds, using, looks or _looks)
    try:
        one.go()
    except (DatabaseError, InterfaceError, DatabaseAway) as error:
        logger.warning("recovery_stopped", extra={"error": type(error).__name__, "words": str(error)})
        one.finished = False
        counters.recovery_unfinished.inc()
    finally:
        connections[using].close()  # with the run's own lock_timeout
    return one.recovered()


class Run:
    """One run: its bounds, its name in the events it writes, and what it has counted so far."""

    def __init__(self, limit: int, stop_at: float, using: str, looks: Looks) -> None:
        self.run_id = f"recovery:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.finished = True
        self._limit = limit
        self._stop_at = stop_at
        self._takeovers = Takeovers(using)
        self._looks = looks
        self._resolver = Resolver(self._takeovers, self.run_id)
        self._counts: Counter[Came] = Counter()
        self._losses = 0
        self._waits = 0
        self._newly_asked: set[UUID] = set()

    def go(self) -> None:
        """Visit Running attempts, then Delivering ones."""
        self._bound_lock_waits()
        for candidate in self._visit(Status.RUNNING):
            self._count(self._guarded(partial(take_over, candidate, self._takeovers, self.run_id)))
        waiting: dict[UUID, Open] = {}
        for candidate in self._visit(Status.DELIVERING):
            came = self._guarded(partial(self._resolver.from_evidence, candidate))
            if isinstance(came, Open):
                waiting[candidate.attempt_id] = came
                if self._looks.ask(came.question):
                    self._newly_asked.add(candidate.attempt_id)
            else:
                self._count(came)
        self._resolve_as_answers_come(waiting)

    def recovered(self) -> Recovered:
        """Return the counts."""
        return Recovered(**{came.value: self._counts[came] for came in Came}, finished=self.finished)

    def _visit(self, status: Status) -> Iterator[Candidate]:
        for candidate in expired(status, self._takeovers.using):
            if self._is_over():
                self.finished = False
                return
            yield candidate

    def _is_over(self) -> bool:
        resolved = sum(self._counts[came] for came in RESOLVED)
        return resolved >= self._limit or time.monotonic() >= self._stop_at

    def _resolve_as_answers_come(self, waiting: dict[UUID, Open]) -> None:
        while waiting:
            answers = self._looks.take(set(waiting), self._patience_ends(waiting))
            if not answers:
                break
            for attempt_id, sighting in answers.items():
                attempt = waiting.pop(attempt_id)
                self._count(self._guarded(partial(self._resolver.from_look, attempt, sighting)))
        for attempt in waiting.values():
            self._count(self._guarded(partial(self._without_answer, attempt)))

    def _patience_ends(self, waiting: dict[UUID, Open]) -> float:
        # Who hung in an earlier run is not waited for again; its answer is taken whenever it is there.
        patience = PATIENCE_SECONDS if self._newly_asked & waiting.keys() else 0.0
        return min(self._stop_at, time.monotonic() + patience)

    def _without_answer(self, attempt: Open) -> Came:
        if not overdue(attempt.candidate):
            return Came.WAITING
        silence = Unanswered(Trouble.TIMEOUT, text="no look came back within a recovery run")
        return self._resolver.from_look(attempt, silence)

    def _count(self, came: Came) -> None:
        self._counts[came] += 1
        counters.takeovers.labels(came).inc()

    def _guarded(self, step: Callable[[], Result]) -> Result | Came:
        """Run one attempt's step; whatever the database answers instead concerns this attempt alone."""
        try:
            return step()
        except (DatabaseError, InterfaceError) as error:
            return self._came_of(error)

    def _came_of(self, error: Exception) -> Came:
        match doubt_of(error, self._takeovers.using):
            case Doubt.NOT_NOW:
                self._wait_less()
                return Came.SKIPPED
            case Doubt.REAL:
                logger.error("takeover_refused", exc_info=error)
                return Came.FAILED
            case Doubt.UNKNOWN:
                self._reconnect(error)
                return Came.UNANSWERED
            case doubt:
                assert_never(doubt)

    def _reconnect(self, error: Exception) -> None:
        # Whether the takeover applied does not matter to this run: nothing outside the database rests on it.
        self._losses += 1
        connections[self._takeovers.using].close()
        if self._losses >= MOST_LOSSES:
            raise DatabaseAway from error
        self._bound_lock_waits()

    def _wait_less(self) -> None:
        self._waits += 1
        if self._waits == MOST_WAITS:
            self._bound_lock_waits()

    def _bound_lock_waits(self) -> None:
        bound = LOCK_TIMEOUT_MS if self._waits < MOST_WAITS else NO_WAIT_MS
        with connections[self._takeovers.using].cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {bound}")
