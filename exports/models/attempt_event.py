"""The append-only history of attempts (I2, I6, I7)."""

from __future__ import annotations

from django.db import models

from exports.managers import AttemptEventManager
from exports.models.base import StatementOwned, bare_reference
from exports.states import EventKind


class ExportAttemptEvent(StatementOwned):
    """One fact about one attempt: a transition (once per attempt and kind) or a piece of delivery evidence."""

    id = models.BigAutoField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    attempt_id = models.UUIDField()
    kind = models.TextField(choices=[(k.value, k.value) for k in EventKind])
    version = models.IntegerField(null=True)
    worker_id = models.TextField(null=True)  # noqa: DJ001 - null as the reference has it
    observed_by = models.TextField(null=True)  # noqa: DJ001 - null as the reference has it
    detail = models.TextField(null=True)  # noqa: DJ001 - null as the reference has it
    recorded_at = models.DateTimeField()

    objects = AttemptEventManager()

    class Meta:
        db_table = "export_attempt_events"
        verbose_name = "attempt event"

    def __str__(self) -> str:
        return f"{self.kind} {self.attempt_id}"
