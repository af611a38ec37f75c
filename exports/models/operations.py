"""Working state that is not history: holds, progress of attempts, and which processes are alive."""

from __future__ import annotations

import uuid

from django.db import models

from exports.models.base import ClockTimestamp, bare_reference


class Hold(models.Model):
    """Why queued work waits without a wake-up (I5): for a destination, a tenant, or everything (both null)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey("exports.Tenant", on_delete=models.PROTECT, null=True, blank=True)
    destination = models.ForeignKey("exports.Destination", on_delete=models.PROTECT, null=True, blank=True)
    reason = models.TextField()
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.TextField(null=True, blank=True)  # noqa: DJ001 - null while it holds

    class Meta:
        db_table = "holds"
        indexes = (
            models.Index(fields=("destination", "tenant"), name="ix_x_holds_open", condition=models.Q(ended_at=None)),
        )

    def __str__(self) -> str:
        return self.reason


class AttemptProgress(models.Model):
    """How far a running attempt is, as its worker counts; unlogged, and gone with a crash of the database."""

    attempt_id = models.UUIDField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    phase = models.TextField()
    rows_done = models.BigIntegerField(null=True)
    bytes_done = models.BigIntegerField(null=True)
    bytes_total = models.BigIntegerField(null=True)
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
