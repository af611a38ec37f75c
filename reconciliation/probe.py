"""Asking partners what stands under a final name: outside any transaction, in threads that delay nobody.

One thread a destination asks its questions one after the other; at most MOST_THREADS run at once. A look that
does not come back holds its own destination and nothing else: the run that asked goes on without it, and
whoever asks next finds the answer here if it came late. A look changes nothing at the partner.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, connections

from exports.crashpoints import reach
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect
from exports.evidence import Sighting, Trouble, Unanswered
from exports.worker.partner import open_unpooled

if TYPE_CHECKING:
    from uuid import UUID

    from exports.contracts import Contract
    from exports.destinations.protocol import Session

logger = logging.getLogger(__name__)

MOST_THREADS = 16
"""Destinations looked at at once by one process: far more than hang at the same time, far fewer than hurt."""

PATIENCE_SECONDS = 10.0
"""How long one run waits for the next answer, well below a lease; one that comes later serves the next run."""

LINGER_SECONDS = 0.5
"""How long a session waits for the next question of the same run, which reads a row in milliseconds."""

GIVE_UP_AFTER = 2
"""Looks in a row without an answer after which a destination is asked nothing more for now."""

MOST_KEPT = 10_000
"""Late answers kept for a next run; the oldest go first, and whoever still needs one asks again."""

TIMED_OUT = frozenset({ConnectTrouble.TIMEOUT, ConnectTrouble.UNREACHABLE})


@dataclass(frozen=True, slots=True)
class Question:
    """What stands under `name`? Asked for one attempt, under the contract version it was claimed under."""

    attempt_id: UUID
    destination_id: UUID
    contract: Contract
    name: str


class Looks:
    """The looks of one process: what is to be asked, what is being asked, and what was answered."""

    def __init__(self, using: str = "default") -> None:
        self._using = using
        self._changed = threading.Condition()
        self._open: dict[UUID, deque[Question]] = {}
        self._asked: set[UUID] = set()
        self._running: set[UUID] = set()
        self._answers: dict[UUID, Sighting] = {}

    def ask(self, question: Question) -> bool:
        """Have this asked; False when it is open already, or was answered and nobody has taken it yet."""
        with self._changed:
            if question.attempt_id in self._asked:
                return False
            self._asked.add(question.attempt_id)
            self._open.setdefault(question.destination_id, deque()).append(question)
            self._start_threads()
            self._changed.notify_all()
            return True

    def take(self, attempt_ids: set[UUID], wait_until: float) -> dict[UUID, Sighting]:
        """Return the answers to these that are there, waiting for the first until `wait_until` (monotonic)."""
        with self._changed:
            self._changed.wait_for(lambda: attempt_ids & self._answers.keys(), max(0.0, wait_until - time.monotonic()))
            found = attempt_ids & self._answers.keys()
            self._asked -= found
            return {attempt_id: self._answers.pop(attempt_id) for attempt_id in found}

    def _start_threads(self) -> None:
        idle = [each for each, questions in self._open.items() if questions and each not in self._running]
        for destination_id in idle[: MOST_THREADS - len(self._running)]:
            self._running.add(destination_id)
            threading.Thread(
                target=self._run, args=(destination_id,), name=f"probe-{destination_id}", daemon=True
            ).start()

    def _run(self, destination_id: UUID) -> None:
        visit = Visit(self._using)
        try:
            while (question := self._next(destination_id)) is not None:
                self._answer(question, visit.ask(question))
        finally:
            visit.close()
            with self._changed:
                self._running.discard(destination_id)
                self._start_threads()

    def _next(self, destination_id: UUID) -> Question | None:
        with self._changed:
            # A run finds its rows one by one; the session waits for the next of them.
            if self._changed.wait_for(lambda: self._open[destination_id], LINGER_SECONDS):
                return self._open[destination_id].popleft()
            del self._open[destination_id]
            return None

    def _answer(self, question: Question, sighting: Sighting) -> None:
        with self._changed:
            self._answers[question.attempt_id] = sighting
            while len(self._answers) > MOST_KEPT:
                oldest = next(iter(self._answers))
                del self._answers[oldest]
                self._asked.discard(oldest)
            self._changed.notify_all()


class Visit:
    """One thread's questions to one destination, over one session as long as it can be trusted."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._session: Session | None = None
        self._contract: Contract | None = None
        self._without_answer = 0
        self._last: Unanswered | None = None

    def ask(self, question: Question) -> Sighting:
        """Look, or say why there is no answer. Raises nothing: whatever happens is an answer or none."""
        if self._last is not None and self._without_answer >= GIVE_UP_AFTER:
            return self._last
        try:
            reach("recover.probe.before")
            sighting = self._look(question)
            reach("recover.probe.after")
        except Exception as error:
            logger.exception(
                "look_failed",
                extra={"attempt_id": str(question.attempt_id), "destination_id": str(question.destination_id)},
            )
            sighting = Unanswered(Trouble.LOCAL, text=type(error).__name__)
        self._note(sighting)
        return sighting

    def _look(self, question: Question) -> Sighting:
        try:
            session = self._session_for(question)
            # A partner that hashes or sends back its content may take long, but no longer than a delivery.
            session.set_deadline(question.contract.limits.attempt_deadline_seconds)
            return session.read_back(question.name)
        except CouldNotConnect as trouble:
            kind = Trouble.TIMEOUT if trouble.kind in TIMED_OUT else Trouble.CONNECTION_LOST
            return Unanswered(kind, text=trouble.words)
        except (DatabaseError, InterfaceError) as error:
            return Unanswered(Trouble.LOCAL, text=f"the credential could not be read: {type(error).__name__}")

    def _session_for(self, question: Question) -> Session:
        if self._session is None or self._session.doubtful or self._contract != question.contract:
            self.close()
            try:
                self._session = open_unpooled(question.contract, self._using)
            finally:
                # The credential is read by now; a look may take long, and holds no database session meanwhile.
                connections[self._using].close()
            self._contract = question.contract
        return self._session

    def _note(self, sighting: Sighting) -> None:
        if isinstance(sighting, Unanswered):
            self._last = sighting
            self._without_answer += 1
            self.close()
        else:
            self._without_answer = 0

    def close(self) -> None:
        """End the session, if there is one."""
        if self._session is not None:
            self._session.close()
            self._session = None
