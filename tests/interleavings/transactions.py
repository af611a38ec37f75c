"""The expectation: what READ COMMITTED does with the rules when transactions hold rows and wait for them.

It follows a schedule step by step. It says whether a statement must wait now, what it must answer once it waits
no more, and what is committed in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.interleavings.rules import TAKEN, Change, Lock, Mode, View, conflict
from tests.interleavings.special import EXPECTED, slot_of
from tests.interleavings.world import Job, Lease

if TYPE_CHECKING:
    from tests.interleavings.steps import Step


@dataclass
class Transaction:
    """What one session has done and holds, and what it waits for."""

    changes: Change = field(default_factory=dict)
    locks: list[Lock] = field(default_factory=list)
    wants: list[Lock] = field(default_factory=list)

    @property
    def matters(self) -> bool:
        """Whether its end makes a difference to anybody."""
        return bool(self.changes or self.locks)

    def end(self) -> Change:
        """Give up everything and return what was changed."""
        changes, self.changes, self.locks, self.wants = self.changes, {}, [], []
        return changes


class Transactions:
    """The committed rows, and the transactions that are open on them."""

    def __init__(self, rows: dict[str, Any], names: list[str]) -> None:
        self.committed = rows
        self.open = {name: Transaction() for name in names}

    def start(self, name: str, step: Step) -> None:
        """Note what a statement will wait for, as it finds the rows now."""
        self.open[name].wants = EXPECTED[step.statement].wants(self._view(name), step.call)

    def waits_for(self, name: str, step: Step, *, surely: bool = True) -> set[str]:
        """Return the sessions that keep this one waiting now, or (not surely) that may; hold what is free."""
        mine = self.open[name]
        for wanted in mine.wants:
            if wanted is not mine.wants[0] and wanted not in EXPECTED[step.statement].wants(
                self._view(name), step.call
            ):
                continue  # what it waited for first has changed its mind
            holders = {other for other in self.open if other != name and _holds(self.open[other], wanted, surely)}
            if holders and (wanted.is_certain or not surely):
                return holders
            if wanted not in mine.locks:
                mine.locks.append(wanted)
        return set()

    def complete(self, name: str, step: Step) -> str:
        """Do what the statement does, now that it waits no more, and return what it must answer."""
        mine, view = self.open[name], self._view(name)
        answer, changes = EXPECTED[step.statement].does(view, step.call)
        mine.wants = []
        if answer == TAKEN:
            mine.end()  # an error gives up every lock at once, not only at the rollback
        for row, after in changes.items():
            mine.locks += _locks_of_change(row, view.rows.get(row), after)
        mine.changes |= changes
        return answer

    def end(self, name: str, *, commit: bool) -> None:
        """End a transaction: what it changed is what everybody sees, or nothing is."""
        changes = self.open[name].end()
        if commit:
            self.committed = self.committed | changes

    def lapse(self) -> None:
        """Let the leases be over that end soon."""
        lapsing = {
            name: replace(row, lease=Lease.LAPSED)
            for name, row in self.committed.items()
            if isinstance(row, Job) and row.lease is Lease.LAPSING
        }
        self.committed = self.committed | lapsing

    def _view(self, name: str) -> View:
        others = [transaction for other, transaction in self.open.items() if other != name]
        held = {lock.resource for each in others for lock in each.locks if conflict(lock.mode, Mode.CHANGE)}
        return View(self.committed | self.open[name].changes, frozenset(held))


def _holds(transaction: Transaction, wanted: Lock, surely: bool) -> bool:  # noqa: FBT001 - passed on
    held = [lock for lock in transaction.locks if lock.is_certain or not surely]
    return any(lock.resource == wanted.resource and conflict(lock.mode, wanted.mode) for lock in held)


def _locks_of_change(name: str, before: Any, after: Any) -> list[Lock]:
    locks = [Lock(name, Mode.CHANGE)]
    if isinstance(after, Job) and after is not before and (after.holds_the_slot or (before and before.holds_the_slot)):
        locks.append(Lock(slot_of(after.original), Mode.INSERT))
    return locks
