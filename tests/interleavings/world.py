"""The few facts about an export that decide what a statement does to it, and where they come from.

Everything here has a fixed name and a fixed identity, so that every schedule starts from the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from uuid import UUID, uuid5

from exports.states import EventKind, FailureReason, Status

ORIGINAL = "original"
REPLACEMENT = "replacement"
SIBLING = "sibling"
"""Another original at the same destination."""
SUCCESSOR = "successor"
"""The replacement that a schedule itself creates."""

OURS, THEIRS = "ours", "theirs"
MAX_ATTEMPTS = 2
"""The cap every takeover is given: small, so that few rows of history reach it."""

ANNA, BERT = "user:anna", "user:bert"
"""Anna settles the outcomes of starting states; Bert is somebody else."""

FREES_THE_SLOT = frozenset({Status.CANCELED, Status.REJECTED, Status.STOPPED, Status.FAILED})
_NAMES = UUID("6f1d3d0c-3c50-4cf5-9d0e-0d8d5d0f4b11")


@cache
def uid(name: str) -> UUID:
    """Return the identity behind a name, the same in every schedule."""
    return uuid5(_NAMES, name)


def message_of(job_name: str, number: int) -> str:
    """Return the name of one of a job's wake-ups."""
    return f"{job_name} wake-up {number}"


class Lease(Enum):
    """What the lease of a row says at a moment far from its end."""

    NONE = "NULL"
    CURRENT = "clock_timestamp() + interval '1 hour'"
    LAPSED = "clock_timestamp() - interval '1 hour'"
    GIVEN_BACK = "'epoch'"
    LAPSING = "clock_timestamp() + interval '300 milliseconds'"

    @property
    def is_over(self) -> bool:
        """Whether a takeover may happen."""
        return self in {Lease.LAPSED, Lease.GIVEN_BACK}


HOLD = "hold"
"""The name under which a family's hold stands among its rows."""


class Hold(Enum):
    """What keeps a family waiting, and how it stands in the table.

    Cause, destination, tenant, version held; whether it has ended, until when it holds, whose version it holds.
    """

    NONE = None
    PAUSED = ("Paused", "first", None, None)
    CAP = ("Cap", "first", None, None)
    TENANT = ("Paused", None, OURS, None)
    FROZEN = ("Frozen", None, None, None)
    OTHER_DESTINATION = ("Paused", "elsewhere", OURS, None)
    OTHER_TENANT = ("Paused", None, THEIRS, None)
    OTHER_GUARDED = ("Guard", None, OURS, 1, None, None, "bystander")
    GUARDED = ("Guard", None, OURS, 1)
    GUARDED_BEFORE = ("Guard", None, OURS, 9)
    FOR_AN_HOUR = ("Paused", "first", None, None, None, "1 hour")
    OVER = ("Paused", "first", None, None, None, "-1 hour")
    ENDED = ("Paused", "first", None, None, "ended", None)


class Woken(Enum):
    """When a queued export was last woken."""

    JUST_NOW = "clock_timestamp()"
    LATELY = "date_trunc('second', clock_timestamp()) - interval '1 minute'"
    LONG_AGO = "date_trunc('second', clock_timestamp()) - interval '3 hours'"
    LONGEST_AGO = "date_trunc('second', clock_timestamp()) - interval '4 hours'"


@dataclass(frozen=True, slots=True)
class Job:
    """One row of export_jobs, as far as any guard asks."""

    name: str = ORIGINAL
    status: Status = Status.QUEUED
    attempt: str | None = None
    claims: int = 0
    given_back: int = 0
    lease: Lease = Lease.NONE
    stop: bool = False
    version: int = 1
    destination: str = "first"
    reason: FailureReason | None = None
    authorized: bool = False
    woken: Woken = Woken.LATELY
    sweeps: int = 0
    original: str | None = None
    reconciled_by: str | None = None
    corrected: bool = False

    @property
    def counted_attempts(self) -> int:
        """Attempts that count against the cap: those given back do not, the current one included."""
        return self.claims - self.given_back - (self.lease is Lease.GIVEN_BACK)

    @property
    def is_used_up(self) -> bool:
        """Whether there are no attempts left."""
        return self.claims >= 10 * MAX_ATTEMPTS or self.counted_attempts >= MAX_ATTEMPTS

    @property
    def holds_the_slot(self) -> bool:
        """Whether this replacement keeps others from being created."""
        free = self.status in FREES_THE_SLOT and self.reason is not FailureReason.ORIGINAL_DELIVERED
        return self.original is not None and not free


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the attempts' history."""

    attempt: str
    kind: EventKind
    observed_by: str | None = None
    detail: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """An export and how it came to be what it is; each method is one more thing that happened to it."""

    job: Job = Job()
    events: tuple[Event, ...] = ()
    clicks: tuple[tuple[str, str], ...] = ()
    edits: int = 0
    is_published: bool = True

    def _with(self, event: Event, **changes: object) -> Past:
        return replace(self, job=replace(self.job, **changes), events=(*self.events, event))  # type: ignore[arg-type]

    def _ends(self, kind: EventKind, detail: str | None = None, **changes: object) -> Past:
        assert self.job.attempt is not None
        return self._with(Event(self.job.attempt, kind, ANNA, detail), **changes)

    def changed(self, **changes: object) -> Past:
        """Return the same past with another row at its end; only for what leaves no trace in the history."""
        return replace(self, job=replace(self.job, **changes))  # type: ignore[arg-type]

    def edited(self) -> Past:
        """Return it after an edit of its terms."""
        changed = self.changed(version=self.job.version + 1, destination="second")
        return replace(changed, edits=self.edits + 1)

    def claimed(self) -> Past:
        """Return it after a claim, with a current lease."""
        attempt = f"{self.job.name}.{self.job.claims + 1}"
        event = Event(attempt, EventKind.CLAIMED, version=self.job.version)
        return self._with(
            event, status=Status.RUNNING, attempt=attempt, claims=self.job.claims + 1, lease=Lease.CURRENT
        )

    def lapsed(self) -> Past:
        """Return it with its lease over."""
        return self.changed(lease=Lease.LAPSED)

    def requeued(self, *, given_back: bool = False) -> Past:
        """Return it after a takeover that left it queued."""
        detail = "returned" if given_back else None
        done = self._ends(EventKind.REQUEUED_BY_RECOVERY, detail, given_back=self.job.given_back + given_back)
        return done.changed(status=Status.QUEUED, attempt=None, lease=Lease.NONE)

    def asked_to_stop(self) -> Past:
        """Return it after a click that found it running."""
        return replace(self.changed(stop=True), clicks=(*self.clicks, ("StopRequested", "Running")))

    def canceled(self) -> Past:
        """Return it after a click that found it queued."""
        canceled = self.changed(status=Status.CANCELED)
        return replace(canceled, clicks=(*self.clicks, ("CanceledWhileQueued", "Queued")))

    def rejected(self) -> Past:
        """Return it after policy refused it."""
        return self.changed(status=Status.REJECTED)

    def authorized(self) -> Past:
        """Return it past cutoff 2."""
        return self._ends(EventKind.DELIVERY_AUTHORIZED, status=Status.DELIVERING, authorized=True)

    def failed(self, reason: FailureReason) -> Past:
        """Return it after its attempt failed before cutoff 2."""
        return self._ends(EventKind.FAILED, status=Status.FAILED, reason=reason, lease=Lease.NONE)

    def stopped(self) -> Past:
        """Return it after its attempt obeyed a stop request."""
        return self._ends(EventKind.STOPPED, status=Status.STOPPED, lease=Lease.NONE)

    def exhausted(self) -> Past:
        """Return it after recovery gave it up."""
        reason = FailureReason.ATTEMPTS_EXHAUSTED
        return self._ends(EventKind.ATTEMPTS_EXHAUSTED, status=Status.FAILED, reason=reason, lease=Lease.NONE)

    def finished(self, to: Status, reason: FailureReason | None = None) -> Past:
        """Return it after its attempt's own terminal write past cutoff 2."""
        return self._ends(EventKind.FINISHED, f"{to}: seen", status=to, reason=reason, lease=Lease.NONE)

    def resolved(self, to: Status) -> Past:
        """Return it after recovery resolved it."""
        return self._ends(EventKind.RESOLVED_BY_RECOVERY, f"{to}: seen", status=to, lease=Lease.NONE)

    def reconciled(self, to: Status, reason: FailureReason | None = None) -> Past:
        """Return it after Anna settled its unknown outcome."""
        return self._ends(EventKind.RECONCILED, f"{to}: seen", status=to, reason=reason, reconciled_by=ANNA)

    def corrected(self, to: Status, reason: FailureReason | None = None) -> Past:
        """Return it after Anna corrected its recorded outcome."""
        detail = f"{self.job.status} to {to}: seen"
        return self._ends(EventKind.CORRECTED, detail, status=to, reason=reason, corrected=True)

    def observed(self, by: str, detail: str = "seen") -> Past:
        """Return it with evidence of its attempt."""
        assert self.job.attempt is not None
        return self._with(Event(self.job.attempt, EventKind.DELIVERY_EVIDENCE, by, detail))
