"""Every click on cancel and its one recorded outcome (I9)."""

from __future__ import annotations

from django.db import models

from exports.managers import CancellationRequestManager
from exports.models.base import ClockTimestamp, StatementOwned, bare_reference


class CancellationRequest(StatementOwned):
    """One click: the client's request id, who, why, what it found and what came of it. Append-only."""

    pk = models.CompositePrimaryKey("tenant_id", "id")
    tenant = bare_reference("exports.Tenant")
    id = models.UUIDField()
    job = bare_reference("exports.ExportJob")
    requested_by = models.TextField()
    reason = models.TextField(null=True)  # noqa: DJ001 - null when none was given
    outcome = models.TextField()
    found_status = models.TextField()
    found_attempt_id = models.UUIDField(null=True)
    found_attempt_count = models.IntegerField()
    found_delivery_authorized_at = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField(db_default=ClockTimestamp())

    objects = CancellationRequestManager()

    class Meta:
        db_table = "cancellation_requests"
        verbose_name = "cancellation request"

    def __str__(self) -> str:
        return f"{self.outcome} {self.id}"
