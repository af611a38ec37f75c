"""Taking over Running attempts: nothing has left the process, so each is stopped, requeued or exhausted.

A committed takeover ends the attempt's ownership; a renewal, an authorization or a stop request that commits
first makes the statement match nothing (I1, I3).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from exports.conf import limits
from exports.crashpoints import reach
from exports.states import Written

if TYPE_CHECKING:
    from reconciliation.candidates import Candidate
    from reconciliation.managers import Takeovers


class Came(StrEnum):
    """What came of one expired attempt in one run."""

    REQUEUED = "requeued"
    STOPPED = "stopped"
    EXHAUSTED = "exhausted"
    COMPLETED = "completed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    WAITING = "waiting"
    """Its partner has not answered yet; a later run decides."""
    MOVED_ON = "moved_on"
    """It renewed, ended or changed since the scan: somebody else's case, or the next run's."""
    SKIPPED = "skipped"
    """The database refused for now (a lock, a deadlock): the next run's case."""
    UNANSWERED = "unanswered"
    """The connection was lost; the row says what became of it, to the next run."""
    FAILED = "failed"
    """The database refused for a reason that will not pass by itself; logged, and it stops nothing else."""


def take_over(candidate: Candidate, takeovers: Takeovers, run_id: str) -> Came:
    """Take over a Running attempt by the one statement whose conditions hold; database errors pass through."""
    if candidate.job.stop_request_id is not None:
        return _stop(candidate, takeovers, run_id)
    reach("recover.requeued.before")
    written = takeovers.requeue(
        job_id=candidate.job.id,
        expired_attempt_id=candidate.attempt_id,
        max_attempts=limits().max_attempts,
        recovery_run_id=run_id,
    )
    reach("recover.requeued.after")
    return Came.REQUEUED if written is Written.APPLIED else _exhaust(candidate, takeovers, run_id)


def _exhaust(candidate: Candidate, takeovers: Takeovers, run_id: str) -> Came:
    reach("recover.exhausted.before")
    written = takeovers.exhaust(
        job_id=candidate.job.id,
        expired_attempt_id=candidate.attempt_id,
        max_attempts=limits().max_attempts,
        recovery_run_id=run_id,
    )
    reach("recover.exhausted.after")
    return Came.EXHAUSTED if written is Written.APPLIED else Came.MOVED_ON


def _stop(candidate: Candidate, takeovers: Takeovers, run_id: str) -> Came:
    reach("recover.stopped.before")
    written = takeovers.stop_expired(
        job_id=candidate.job.id, expired_attempt_id=candidate.attempt_id, recovery_run_id=run_id
    )
    reach("recover.stopped.after")
    return Came.STOPPED if written is Written.APPLIED else Came.MOVED_ON
