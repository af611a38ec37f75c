"""How far an attempt is, by its worker's own counting: for whoever watches, never a status, and worth no wait.

The thread that works only counts. The stop watcher, which has a session of its own and looks about once a second,
tells the database what has moved since; an attempt that is over sooner is never written down.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import connections

from exports.models import AttemptProgress
from exports.models.base import ClockTimestamp
from exports.sql import body_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from uuid import UUID

KEPT = timedelta(days=1)
"""How long the count of a worker that was killed stays: its attempt has long been taken over."""

_NOTE = body_of(Path(__file__).with_name("note_progress.sql").read_text(encoding="utf-8"))


class Phase(StrEnum):
    """What the worker counts."""

    BUILDING = "building"
    UPLOADING = "uploading"


@dataclass(frozen=True, slots=True)
class Count:
    """So far: contacts and bytes, of how many bytes where that is known, after how long by the worker's clock."""

    phase: Phase
    rows: int | None
    size: int
    total: int | None
    seconds: float


class Tally:
    """One attempt's counters: kept by the thread that works, read by the watcher's."""

    def __init__(self) -> None:
        self.latest: Count | None = None
        self._phase = Phase.BUILDING
        self._total: int | None = None
        self._began = time.monotonic()

    def begin(self, phase: Phase, total: int | None = None) -> None:
        """Say which phase begins, and of how many bytes it is."""
        self._phase, self._total, self._began = phase, total, time.monotonic()
        self._note(None, 0)

    def built(self, rows: int, size: int) -> None:
        """Count what stands in the local file."""
        self._note(rows, size)

    def uploaded(self, size: int) -> None:
        """Count what the partner has confirmed."""
        self._note(None, size)

    def _note(self, rows: int | None, size: int) -> None:
        # One assignment: whoever reads meanwhile sees the last count or this one, never half of each.
        self.latest = Count(self._phase, rows, size, self._total, time.monotonic() - self._began)


def note(counts: Mapping[tuple[UUID, UUID], Count], using: str) -> None:
    """Write down the counts, by job and attempt, of attempts that still own their jobs. Database errors pass through.

    One statement outside of any transaction: it holds nothing that the attempt's own writes could wait for.
    """
    told = list(counts.values())
    with connections[using].cursor() as cursor:
        cursor.execute(
            _NOTE,
            {
                "jobs": [job_id for job_id, _ in counts],
                "attempts": [attempt_id for _, attempt_id in counts],
                "phases": [count.phase.value for count in told],
                "rows": [count.rows for count in told],
                "sizes": [count.size for count in told],
                "totals": [count.total for count in told],
                "seconds": [count.seconds for count in told],
            },
        )


def forget(attempt_ids: Collection[UUID], using: str) -> None:
    """Remove the counts of attempts that are over. Database errors pass through."""
    with connections[using].cursor() as cursor:
        cursor.execute("DELETE FROM attempt_progress WHERE attempt_id = ANY(%s)", [list(attempt_ids)])


def forget_old(using: str = "default") -> int:
    """Remove counts that nobody has moved for a day; return how many. Database errors pass through."""
    old = AttemptProgress.objects.using(using).filter(updated_at__lt=ClockTimestamp() - KEPT)
    removed, _ = old.delete()
    return removed
