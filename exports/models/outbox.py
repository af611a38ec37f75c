"""Wake-ups waiting for the broker (I5)."""

from __future__ import annotations

from django.db import models

from exports.managers import OutboxManager
from exports.models.base import StatementOwned


class OutboxMessage(StatementOwned):
    """One wake-up for one job, with an id of its own; the dispatcher sets published_at and nothing else."""

    message_id = models.UUIDField(primary_key=True)
    kind = models.TextField()
    job_id = models.UUIDField()
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)

    objects = OutboxManager()

    class Meta:
        db_table = "outbox"
        verbose_name = "wake-up"

    def __str__(self) -> str:
        return str(self.message_id)
