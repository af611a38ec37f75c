"""What all schedules share: the owner who lays out and judges the rows, the observer, and one session a login."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db import connections

from exports.states import Role
from tests.interleavings.meetings import impossible
from tests.interleavings.promises import PREPARE, QUESTION
from tests.interleavings.seeding import SCHEMA, UNDO, script
from tests.interleavings.sessions import ALIAS_OF, ANSWER_SECONDS, Result, Session, wait_for_any
from tests.interleavings.world import ORIGINAL, REPLACEMENT, SIBLING, SUCCESSOR, Job, Lease, uid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.interleavings.starting import Family

Facts = dict[str, Any]
_NAME_OF = {str(uid(name)): name for name in (ORIGINAL, REPLACEMENT, SIBLING, SUCCESSOR)}
_HAS_LAPSED = "SELECT clock_timestamp() >= max(lease_expires_at) FROM interleavings.before"
_VACUUM_EVERY = 1500
"""Schedules between two clean-ups: dead rows of a thousand schedules do not slow the next one down yet."""


class Bench:
    """The connections of a whole run."""

    def __init__(self) -> None:
        self.owner = self._login(Role.OWNER)
        self.observer = self._login(Role.OWNER)
        self._sessions: dict[tuple[int, Role], Session] = {}
        self._layouts: dict[Family, str] = {}
        self.tally: Counter[str] = Counter()
        self.met: set[tuple[str, str]] = set()
        self.families_met: set[str] = set()
        self._judged = 0
        self._stands: Family | None = None
        """The family whose bystanders stand untouched."""

    def prepare(self) -> None:
        """Lay out what stands for the whole run."""
        self.owner.do(SCHEMA + "SET jit = off;" + PREPARE)

    def _login(self, role: Role) -> Session:
        parameters = connections[ALIAS_OF[role]].get_connection_params()
        return Session({name: parameters[name] for name in ("host", "port", "dbname", "user", "password")})

    def session(self, index: int, role: Role) -> Session:
        """Return the connection of one login for one place in a schedule."""
        if (index, role) not in self._sessions:
            self._sessions[index, role] = self._login(role)
        return self._sessions[index, role]

    def lay_out(self, family: Family) -> None:
        """Leave exactly the rows of a starting state in the database."""
        if family not in self._layouts:
            self._layouts[family] = f"interleavings.lay_out_{len(self._layouts)}"
            self.owner.do(script(family, self._layouts[family]))
        has_bystanders = family == self._stands and Lease.LAPSING not in {job.lease for job in family.jobs.values()}
        self.owner.do(f"SELECT {self._layouts[family]}({not has_bystanders})")
        self._stands = family

    def lapse(self) -> bool:
        """Wait until every laid out lease is over; return whether the last still was current when asked first."""
        was_current = self.owner.do(_HAS_LAPSED) == [("f",)]
        while self.owner.do(_HAS_LAPSED) == [("f",)]:
            time.sleep(0.005)  # between two questions; the lease is 0.3 s
        return was_current

    def blockers_of(self, session: Session) -> set[int]:
        """Return whom a statement under way waits for, as soon as it waits."""
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while not (blockers := self.observer.waits([session.pid])[session.pid]):
            assert time.monotonic() < give_up_at, "the statement does not wait"
        return blockers

    def answer_of(self, session: Session) -> Result:
        """Return the answer of a statement under way, as soon as it has one."""
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while (result := session.receive()) is None:
            assert time.monotonic() < give_up_at, "the statement still waits"
            wait_for_any([session], ANSWER_SECONDS)
        return result

    def judge(self, told: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Facts], list[str]]:
        """Return what the rows say now, and every promise that is broken."""
        self._judged += 1
        if self._judged % _VACUUM_EVERY == 0:
            self.owner.do("VACUUM")
        ((rows, broken),) = self.owner.do(self.owner.compose(QUESTION, {"told": json.dumps(told)}))
        facts = [row for row in json.loads(rows or "[]") if row["id"] in _NAME_OF]
        if broken:
            self._stands = None
        return {_NAME_OF[row.pop("id")]: row for row in facts}, json.loads(broken or "[]")

    @staticmethod
    def facts(job: Job) -> Facts:
        """Return an expected row in the words in which the database describes one."""
        return {
            "status": job.status.value,
            "attempt": job.attempt and str(uid(job.attempt)),
            "claims": job.claims,
            "lease": job.lease.name,
            "stop": job.stop,
            "version": job.version,
            "destination": str(uid(job.destination)),
            "reason": job.reason and job.reason.value,
            "authorized": job.authorized,
            "sweeps": job.sweeps,
            "original": job.original and str(uid(job.original)),
        }

    def note_meetings(self) -> None:
        """Count for the summary who met, and who cannot; asked for where all have run."""
        self.tally["statements: meetings on a row, in order"] = len(self.met)
        self.tally["statements: meetings that cannot happen, with a reason"] = len(impossible())

    def start_over(self) -> None:
        """End every session of a schedule, whatever it holds, and trust no row that stands."""
        self._stands = None
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def close(self) -> None:
        """Remove everything the run has put into the database, and leave."""
        self.start_over()
        self.observer.close()
        self.owner.finish(UNDO)
        self.owner.close()
