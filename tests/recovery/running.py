"""Recovery as the worker's role runs it, with looks of its own so that tests share none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciliation.managers import Takeovers
from reconciliation.probe import Looks
from reconciliation.recovery import Recovered, run_once

if TYPE_CHECKING:
    from uuid import UUID

    from exports.models import ExportJob
    from exports.states import Written

RUN_ID = "recovery:test"
CAP = 5


def recover(limit: int = 10_000, *, seconds: float = 60.0, looks: Looks | None = None) -> Recovered:
    """Run recovery once."""
    return run_once(limit, time_budget_seconds=seconds, using="worker", looks=looks or Looks("worker"))


def requeue(job: ExportJob, attempt_id: UUID | None = None) -> Written:
    """Try the requeue alone, as a recovery run would."""
    return Takeovers("worker").requeue(
        job_id=job.id,
        expired_attempt_id=attempt_id or job.attempt_id,  # type: ignore[arg-type] # None matches nothing, as it should
        max_attempts=CAP,
        recovery_run_id=RUN_ID,
    )
