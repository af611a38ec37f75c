"""Visits to partners, one thread a destination: one that hangs delays no other, and nobody waits for it twice.

A visit has a bound of its own. What it brings home late is taken by the next run.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import DatabaseError, InterfaceError, connections

from exports.destinations.protocol import CouldNotConnect
from exports.worker.partner import open_unpooled
from reconciliation.acknowledgments.looking import Looked, Sought, look

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from exports.contracts import Contract
    from exports.destinations.protocol import Session
    from reconciliation.acknowledgments.looking import Found

logger = logging.getLogger(__name__)

MOST_AT_ONCE: Final = 16
"""Destinations visited at once by one process: far more than hang at the same time, far fewer than hurt."""

VISIT_SECONDS: Final = 120.0
"""A partner that answers takes a second or two; after this its connection is broken off."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What to look for at one destination, by contract version."""

    destination_id: UUID
    parts: tuple[tuple[Contract, tuple[Sought, ...]], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a visit found, and how many of its questions got no answer."""

    destination_id: UUID
    found: tuple[Found, ...]
    unanswered: int


class Visits:
    """The visits of one process: which are on their way, and what came back."""

    def __init__(self, using: str = "default") -> None:
        self._using = using
        self._changed = threading.Condition()
        self._away: set[UUID] = set()
        self._home: list[Report] = []

    def has_room(self) -> bool:
        """Whether one more may be sent now."""
        return self.number_away < MOST_AT_ONCE

    @property
    def number_away(self) -> int:
        """How many are on their way."""
        return len(self._away)

    def is_away(self, destination_id: UUID) -> bool:
        """Whether a visit to this destination is still on its way."""
        return destination_id in self._away

    def send(self, errand: Errand) -> bool:
        """Start a visit; False when another run has sent one to this destination meanwhile."""
        with self._changed:
            if errand.destination_id in self._away:
                return False
            self._away.add(errand.destination_id)
        name = f"acknowledgments-{errand.destination_id}"
        threading.Thread(target=self._go, args=(errand,), name=name, daemon=True).start()
        return True

    def take(self, wait_until: float) -> list[Report]:
        """Return what came back, waiting for the first until `wait_until` (monotonic)."""
        with self._changed:
            self._changed.wait_for(lambda: self._home, max(0.0, wait_until - time.monotonic()))
            home, self._home = self._home, []
            return home

    def _go(self, errand: Errand) -> None:
        found: list[Found] = []
        unanswered = 0
        try:
            for contract, sought in errand.parts:
                looked = visit(contract, sought, self._using)
                found += looked.found
                unanswered += looked.unanswered
        finally:
            with self._changed:
                self._away.discard(errand.destination_id)
                self._home.append(Report(errand.destination_id, tuple(found), unanswered))
                self._changed.notify_all()


def visit(contract: Contract, sought: Sequence[Sought], using: str) -> Looked:
    """Look once, over a session of its own. Raises nothing: whatever happens, the next visit asks again."""
    try:
        return _visit(contract, sought, using)
    except (CouldNotConnect, DatabaseError, InterfaceError) as error:
        logger.warning("acknowledgments_not_looked_for", extra={"why": str(error)})
    except Exception:
        logger.exception("acknowledgments_look_failed")
    return Looked(unanswered=sum(len(each.forms) for each in sought))


def _visit(contract: Contract, sought: Sequence[Sought], using: str) -> Looked:
    session = _opened(contract, using)
    try:
        session.set_deadline(min(VISIT_SECONDS, contract.limits.attempt_deadline_seconds))
        return look(session, contract, sought)
    finally:
        session.close()


def _opened(contract: Contract, using: str) -> Session:
    try:
        return open_unpooled(contract, using)
    finally:
        # The credential is read by now; a visit may take long, and holds no database session meanwhile.
        connections[using].close()
