"""The closed sets of an export's life and the one table of its transitions (I10).

Stated three times on purpose: here, in the database's trigger and in the headers of the statements.
A test holds the three equal. This module imports nothing of the project.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where an export is; the values are the reference's and the database's."""

    QUEUED = "Queued"
    RUNNING = "Running"
    DELIVERING = "Delivering"
    CANCELED = "Canceled"
    REJECTED = "Rejected"
    STOPPED = "Stopped"
    FAILED = "Failed"
    COMPLETED = "Completed"
    OUTCOME_UNKNOWN = "OutcomeUnknown"


class EventKind(StrEnum):
    """What an attempt's history can say; each at most once per attempt, except DeliveryEvidence."""

    CLAIMED = "Claimed"
    DELIVERY_AUTHORIZED = "DeliveryAuthorized"
    STOPPED = "Stopped"
    FAILED = "Failed"
    FINISHED = "Finished"
    REQUEUED_BY_RECOVERY = "RequeuedByRecovery"
    STOPPED_BY_RECOVERY = "StoppedByRecovery"
    ATTEMPTS_EXHAUSTED = "AttemptsExhausted"
    RESOLVED_BY_RECOVERY = "ResolvedByRecovery"
    RECONCILED = "Reconciled"
    CORRECTED = "Corrected"
    DELIVERY_EVIDENCE = "DeliveryEvidence"


class FailureReason(StrEnum):
    """Why an export is Failed; a Failed row always has one and no other row does."""

    BUILD_FAILED = "BuildFailed"
    ATTEMPTS_EXHAUSTED = "AttemptsExhausted"
    NOT_DELIVERED = "NotDelivered"
    FINAL_NAME_OCCUPIED = "FinalNameOccupied"
    ORIGINAL_DELIVERED = "OriginalDelivered"


class CancellationOutcome(StrEnum):
    """What a recorded click on cancel found; recorded with the click (I9)."""

    CANCELED_WHILE_QUEUED = "CanceledWhileQueued"
    STOP_REQUESTED = "StopRequested"
    STOP_ALREADY_REQUESTED = "StopAlreadyRequested"
    ALREADY_CANCELED = "AlreadyCanceled"
    ALREADY_ENDED = "AlreadyEnded"
    TOO_LATE = "TooLate"


class Happened(StrEnum):
    """What is counted by the hour: a birth, and how exports ended; what people settle later is not counted again."""

    CREATED = "Created"
    COMPLETED = "Completed"
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    FAILED = "Failed"
    STOPPED = "Stopped"
    CANCELED = "Canceled"
    REJECTED = "Rejected"


class Role(StrEnum):
    """The database logins; each process is exactly one of them (DESIGN: roles in the database)."""

    OWNER = "exports_owner"
    API = "exports_api"
    WORKER = "exports_worker"
    DISPATCHER = "exports_dispatcher"
    ACKNOWLEDGER = "exports_acknowledger"
    RECONCILER = "exports_reconciler"
    AUDITOR = "exports_auditor"


WAKE_UP_KIND = "ExportReady"
"""The only kind of outbox row: a wake-up for one job."""

TERMINAL = frozenset(
    {
        Status.CANCELED,
        Status.REJECTED,
        Status.STOPPED,
        Status.FAILED,
        Status.COMPLETED,
        Status.OUTCOME_UNKNOWN,
    }
)
"""Statuses the machine never leaves by itself; two of them people (or the acknowledgment rule) can."""

REPLACEABLE_FAILURES = frozenset(
    {FailureReason.BUILD_FAILED, FailureReason.ATTEMPTS_EXHAUSTED, FailureReason.NOT_DELIVERED}
)
"""Failures that prove nothing was finalized, so that a person may create a replacement."""

Move = tuple[Status | None, Status]

TRANSITIONS: dict[Move, frozenset[Role]] = {
    (None, Status.QUEUED): frozenset({Role.API}),
    (Status.QUEUED, Status.RUNNING): frozenset({Role.WORKER}),
    (Status.QUEUED, Status.CANCELED): frozenset({Role.API}),
    (Status.QUEUED, Status.REJECTED): frozenset({Role.WORKER}),
    (Status.RUNNING, Status.DELIVERING): frozenset({Role.WORKER}),
    (Status.RUNNING, Status.STOPPED): frozenset({Role.WORKER}),
    (Status.RUNNING, Status.FAILED): frozenset({Role.WORKER}),
    (Status.RUNNING, Status.QUEUED): frozenset({Role.WORKER}),
    (Status.DELIVERING, Status.COMPLETED): frozenset({Role.WORKER}),
    (Status.DELIVERING, Status.FAILED): frozenset({Role.WORKER}),
    (Status.DELIVERING, Status.OUTCOME_UNKNOWN): frozenset({Role.WORKER}),
    (Status.OUTCOME_UNKNOWN, Status.COMPLETED): frozenset({Role.RECONCILER, Role.ACKNOWLEDGER}),
    (Status.OUTCOME_UNKNOWN, Status.FAILED): frozenset({Role.RECONCILER}),
    (Status.COMPLETED, Status.FAILED): frozenset({Role.RECONCILER}),
    (Status.FAILED, Status.COMPLETED): frozenset({Role.RECONCILER}),
}
"""Who may move an export from where to where; a birth comes from None. Anything absent is refused."""

EVENT_WRITERS: dict[EventKind, frozenset[Role]] = {
    EventKind.CLAIMED: frozenset({Role.WORKER}),
    EventKind.DELIVERY_AUTHORIZED: frozenset({Role.WORKER}),
    EventKind.STOPPED: frozenset({Role.WORKER}),
    EventKind.FAILED: frozenset({Role.WORKER}),
    EventKind.FINISHED: frozenset({Role.WORKER}),
    EventKind.REQUEUED_BY_RECOVERY: frozenset({Role.WORKER}),
    EventKind.STOPPED_BY_RECOVERY: frozenset({Role.WORKER}),
    EventKind.ATTEMPTS_EXHAUSTED: frozenset({Role.WORKER}),
    EventKind.RESOLVED_BY_RECOVERY: frozenset({Role.WORKER}),
    EventKind.RECONCILED: frozenset({Role.RECONCILER, Role.ACKNOWLEDGER}),
    EventKind.CORRECTED: frozenset({Role.RECONCILER}),
    EventKind.DELIVERY_EVIDENCE: frozenset({Role.WORKER, Role.ACKNOWLEDGER, Role.RECONCILER}),
}
"""Who may write which kind of event."""


class Written(StrEnum):
    """What a conditional write did: all of it, or nothing at all (I1, I2)."""

    APPLIED = "Applied"
    REFUSED = "Refused"


class Authorization(StrEnum):
    """What cutoff 2 answered; one word, from the locked rows (I4).

    FROZEN: people have stopped everything; the attempt is given back. UNKNOWN is never the database's word: it is
    what is left when neither the answer nor the row could be read.
    """

    AUTHORIZED = "Authorized"
    FROZEN = "Frozen"
    STOP_RECORDED = "StopRecorded"
    ORIGINAL_COMPLETED = "OriginalCompleted"
    LEASE_LAPSED = "LeaseLapsed"
    NOT_OWNER = "NotOwner"
    UNKNOWN = "Unknown"


class HoldCause(StrEnum):
    """Why queued exports wait; the first two are people's, the rest the machine's own.

    PAUSED: a destination or a tenant. FROZEN: everything. CAP and RATE: a destination has as many attempts as
    its contract allows. UNREACHABLE: nobody answered there, so it is left alone for a while. GUARD: one export's
    file looked wrong before cutoff 2, and a person has to let this version of it go on.
    """

    PAUSED = "Paused"
    FROZEN = "Frozen"
    CAP = "Cap"
    RATE = "Rate"
    UNREACHABLE = "Unreachable"
    GUARD = "Guard"


AUTOMATIC_HOLDS = frozenset({HoldCause.CAP, HoldCause.RATE, HoldCause.UNREACHABLE})
"""Holds on a destination that the machine opens, at most one of a cause at a time, and ends by itself."""


class Decision(StrEnum):
    """What a second person said to a proposed version of a destination's contract."""

    CONFIRMED = "Confirmed"
    DECLINED = "Declined"
