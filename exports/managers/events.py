"""Evidence: the one event that may be appended many times, by anyone who observed something (I6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.managers.base import StatementManager

if TYPE_CHECKING:
    from uuid import UUID

    from exports.states import Written


class AttemptEventManager(StatementManager):
    """Appending evidence never touches a job's status."""

    def append_evidence(self, *, job_id: UUID, attempt_id: UUID, observed_by: str, detail: str) -> Written:
        """Append what was observed of an attempt's delivery; REFUSED when the job never had that attempt."""
        return self.written(
            "append_evidence", job_id=job_id, attempt_id=attempt_id, observed_by=observed_by, detail=detail
        )
