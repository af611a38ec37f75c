"""Working state that is not history: holds, progress of attempts, and which processes are alive."""

from __future__ import annotations

import uuid

from django.db import models

from exports.models.base import ClockTimestamp, bare_reference
from exports.states import AUTOMATIC_HOLDS, HoldCause


class Hold(models.Model):
    """Why queued work waits without a wake-up (I5): one export, a destination, a tenant, or everything (all null).

    `until` is when it ends by itself. What ends it writes the wake-ups of all it held; `released_at` says that
    the last of them is written. A GUARD hold is on one version of one export, and once ended lets that pass.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey("exports.Tenant", on_delete=models.PROTECT, null=True, blank=True)
    destination = models.ForeignKey("exports.Destination", on_delete=models.PROTECT, null=True, blank=True)
    job_id = models.UUIDField(null=True, blank=True)
    version = models.IntegerField(null=True, blank=True)
    cause = models.TextField(choices=[(c.value, c.value) for c in HoldCause], default=HoldCause.PAUSED.value)
    reason = models.TextField()
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.TextField(null=True, blank=True)  # noqa: DJ001 - null while it holds
    ended_reason = models.TextField(null=True, blank=True)  # noqa: DJ001 - null while it holds
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "holds"
        permissions = (("release_guard", "Can let a guarded version of an export go on"),)
        indexes = (
            models.Index(fields=("destination", "tenant"), name="ix_x_holds_open", condition=models.Q(ended_at=None)),
            models.Index(fields=("created_at",), name="ix_x_holds_unreleased", condition=models.Q(released_at=None)),
            models.Index(fields=("job_id", "version"), name="ix_x_holds_job", condition=models.Q(job_id__isnull=False)),
        )
        constraints = (
            # Two workers that find the same cap reached record one hold.
            models.UniqueConstraint(
                fields=("destination", "cause"),
                condition=models.Q(ended_at=None, cause__in=sorted(cause.value for cause in AUTOMATIC_HOLDS)),
                name="uq_holds_automatic",
            ),
        )

    def __str__(self) -> str:
        return self.reason


class AttemptProgress(models.Model):
    """How far a running attempt is, as its worker counts; unlogged, and gone with a crash of the database.

    `phase_seconds` is how long the phase had taken by the worker's own clock when it had counted so far.
    """

    attempt_id = models.UUIDField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    phase = models.TextField()
    rows_done = models.BigIntegerField(null=True)
    bytes_done = models.BigIntegerField(null=True)
    bytes_total = models.BigIntegerField(null=True)
    phase_seconds = models.FloatField(default=0.0)
    updated_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "attempt_progress"

    def __str__(self) -> str:
        return f"{self.phase} {self.attempt_id}"


class ProcessHeartbeat(models.Model):
    """When a process of a role was last seen; each process upserts its own row."""

    process_id = models.TextField(primary_key=True)
    role = models.TextField()
    started_at = models.DateTimeField(db_default=ClockTimestamp())
    seen_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "process_heartbeats"

    def __str__(self) -> str:
        return self.process_id
