"""Wake-ups waiting for the broker (I5)."""

from __future__ import annotations

import uuid

from django.db import models

from exports.managers import OutboxManager
from exports.models.base import StatementOwned

NOBODYS = uuid.UUID(int=0)
"""The round of wake-ups that name no tenant: those from before the dispatcher published in rounds."""


class OutboxMessage(StatementOwned):
    """One wake-up for one job, with an id of its own; the dispatcher sets published_at and nothing else.

    The tenant is the job's; it stands here so that one index finds each tenant's oldest wake-up.
    """

    message_id = models.UUIDField(primary_key=True)
    kind = models.TextField()
    job_id = models.UUIDField()
    tenant_id = models.UUIDField(db_default=NOBODYS)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)

    objects = OutboxManager()

    class Meta:
        db_table = "outbox"
        verbose_name = "wake-up"

    def __str__(self) -> str:
        return str(self.message_id)
