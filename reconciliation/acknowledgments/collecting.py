"""One run of the collector: who is due, what is looked for, what was found and what came of it.

Nothing about a run is stored but what it found: the pace of each destination, and how far its list has been gone
through, are this process's own memory. Any number of collectors may run at once.
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
from typing import TYPE_CHECKING, Final, assert_never

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from exports.boundary import Doubt, doubt_of
from exports.models import ExportJob
from reconciliation.acknowledgments.awaited import Contracts, completed_at, unknown_at
from reconciliation.acknowledgments.looking import Sought
from reconciliation.acknowledgments.memory import Memory
from reconciliation.acknowledgments.recording import Came, Recorder
from reconciliation.acknowledgments.visits import Errand, Visits
from reconciliation.managers import Acknowledgments

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from exports.contracts import Contract
    from reconciliation.acknowledgments.awaited import Awaited, Place
    from reconciliation.acknowledgments.looking import Found
    from reconciliation.acknowledgments.visits import Report

logger = logging.getLogger(__name__)

EVERY_SECONDS: Final = 10.0
"""Between two runs: the shortest pace a contract may ask for."""

RUN_SECONDS: Final = 60.0
"""Bound on one run; what is due and was not visited is the first of the next."""

PATIENCE_SECONDS: Final = 10.0
"""How long a run waits for the next visit to come back; one that comes later is taken by the next run."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What one run did.

    `places` destinations were visited for `sought` deliveries, of which `overdue` ones have had no word in time.
    Found acknowledgments were `appended`, or `seen_before`, or `of_another` job's upload; exports were
    `completed`, or had `moved_on` when their turn came. `away` visits had not come back yet, `unanswered`
    questions got no answer, and `failed` writes are in the log. `finished` is False when a due destination was
    not visited.
    """

    places: int = 0
    sought: int = 0
    overdue: int = 0
    appended: int = 0
    seen_before: int = 0
    of_another: int = 0
    completed: int = 0
    moved_on: int = 0
    away: int = 0
    unanswered: int = 0
    failed: int = 0
    finished: bool = True


class Collector:
    """What lasts from run to run of one process: visits on their way, contracts read, the pace of each place."""

    def __init__(self, using: str = "default") -> None:
        self.using = using
        self.visits = Visits(using)
        self.contracts = Contracts()
        self.memory = Memory()

    def run_once(self, *, time_budget_seconds: float = RUN_SECONDS) -> Collected:
        """Visit every destination that is due and keep what is found; the loss of the database ends a run."""
        close_old_connections()
        assert not connections[self.using].in_atomic_block, "partners are asked outside any transaction"  # noqa: S101 - a bug
        one = Run(self, time.monotonic() + time_budget_seconds)
        try:
            one.go()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("collecting_stopped", extra={"error": type(error).__name__, "words": str(error)})
            one.finished = False
            connections[self.using].close()
        return one.collected()


class Run:
    """One run: its bounds, its name in the evidence it appends, and what it has counted so far."""

    def __init__(self, collector: Collector, stop_at: float) -> None:
        self.finished = True
        self._collector = collector
        self._using = collector.using
        self._visits = collector.visits
        self._memory = collector.memory
        self._stop_at = stop_at
        self._run_id = f"acknowledgments:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._recorder = Recorder(Acknowledgments(self._using), self._run_id)
        self._away: set[UUID] = set()
        self._counts: Counter[str] = Counter()

    def go(self) -> None:
        """Send the visits that are due, as many at once as may be, and take them as they come back."""
        self._take_all(0.0)
        for place in self._memory.due(self._collector.contracts.places(self._using)):
            if not self._has_room():
                self.finished = False
                return
            self._begin(place)
        while self._away and self._take_all(self._patience_ends()):
            continue

    def collected(self) -> Collected:
        """Return the counts."""
        self._counts["away"] = self._visits.number_away
        return Collected(**self._counts, finished=self.finished)

    def _has_room(self) -> bool:
        while not self._visits.has_room():
            if not self._take_all(self._patience_ends()):
                return False
        return time.monotonic() < self._stop_at

    def _patience_ends(self) -> float:
        # Who hung in an earlier run is not waited for again; what it brings home is taken whenever it is there.
        patience = PATIENCE_SECONDS if self._away else 0.0
        return min(self._stop_at, time.monotonic() + patience)

    def _begin(self, place: Place) -> None:
        """Complete what its evidence proves already, and send a visit for everything that is still open."""
        if self._visits.is_away(place.destination_id):
            return
        self._memory.visited(place)
        open_ones = [each for each in self._next_of(place) if not self._is_completed(each)]
        for each in open_ones:
            self._counts["overdue"] += self._memory.notes_overdue(each)
        parts = _parts(open_ones)
        if parts and self._visits.send(Errand(place.destination_id, parts)):
            self._away.add(place.destination_id)
            self._counts["places"] += 1
            self._counts["sought"] += sum(len(sought) for _, sought in parts)

    def _next_of(self, place: Place) -> list[Awaited]:
        found: list[Awaited] = []
        for page in (unknown_at, completed_at):
            key = place.destination_id, page.__name__
            more, self._memory.positions[key] = page(place, self._memory.positions.get(key), self._using)
            found += more
        return found

    def _is_completed(self, awaited: Awaited) -> bool:
        """Whether it is settled without a look: a run that was cut off between two writes leaves such."""
        if not awaited.is_unknown:
            return False
        return self._complete(awaited.job, awaited.contract) in {Came.COMPLETED, Came.MOVED_ON}

    def _take_all(self, wait_until: float) -> bool:
        """Keep what the visits that are back have found; False when none came."""
        reports = self._visits.take(wait_until)
        for report in reports:
            self._keep(report)
        return bool(reports)

    def _keep(self, report: Report) -> None:
        self._away.discard(report.destination_id)
        self._counts["unanswered"] += report.unanswered
        new = [found for found in report.found if self._is_new(found)]
        # Only when all that was seen is kept: a yes must not settle what a no beside it leaves open.
        for job_id, contract in {found.job_id: found.contract for found in new}.items():
            self._complete(ExportJob.objects.using(self._using).get(id=job_id), contract)

    def _is_new(self, found: Found) -> bool:
        came = self._guarded(partial(self._recorder.append, found))
        self._count(came)
        return came is Came.APPENDED

    def _complete(self, job: ExportJob, contract: Contract) -> Came | None:
        if not contract.verification.acknowledgment.completes_automatically:
            return None
        came = self._guarded(partial(self._recorder.complete, job, contract))
        self._count(came)
        return came

    def _count(self, came: Came | None) -> None:
        if came is not Came.LEFT_OPEN:
            self._counts[came.value if came else "failed"] += 1

    def _guarded(self, step: Callable[[], Came]) -> Came | None:
        """Run one write; a refusal by the database concerns this export alone, and the next visit tries again."""
        try:
            return step()
        except (DatabaseError, InterfaceError) as error:
            match doubt_of(error, self._using):
                case Doubt.NOT_NOW | Doubt.REAL:
                    logger.exception("acknowledgment_not_kept")
                    return None
                case Doubt.UNKNOWN:
                    raise  # applied or not, the next run finds out: nothing outside the database rests on it
                case doubt:
                    assert_never(doubt)


def _parts(all_awaited: list[Awaited]) -> tuple[tuple[Contract, tuple[Sought, ...]], ...]:
    """Bring together what is looked for under one contract version, and so over one connection."""
    parts: dict[Contract, list[Sought]] = {}
    for awaited in all_awaited:
        sought = Sought.of(awaited)
        if sought.forms:
            parts.setdefault(awaited.contract, []).append(sought)
    return tuple((contract, tuple(sought)) for contract, sought in parts.items())


_collector = Collector()
"""This process's own."""


def run() -> Collected:
    """Collect within the bounds of one run, and log what was found."""
    collected = _collector.run_once()
    if collected.appended or collected.completed or collected.failed or not collected.finished:
        logger.info("acknowledgments_collected", extra=asdict(collected))
    return collected
