"""Probes of a destination ("test connection"): who asked for one, which worker took it, and what it found (I7)."""

from __future__ import annotations

import uuid

from django.db import models

from exports.models.base import ClockTimestamp


class ProbeRequest(models.Model):
    """A person's wish to have a destination tried under one version of its contract; append-only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    destination = models.ForeignKey(
        "exports.Destination", on_delete=models.PROTECT, related_name="probe_requests", db_index=False
    )
    contract = models.ForeignKey(
        "exports.DestinationContract", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    requested_by = models.TextField()
    requested_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "probe_requests"
        # Who may change a destination may have it tried; there is no right of its own.
        default_permissions = ()
        indexes = (
            models.Index(fields=("destination", "requested_at"), name="ix_x_probe_requests_place"),
            models.Index(fields=("requested_at",), name="ix_x_probe_requests_recent"),
        )

    def __str__(self) -> str:
        return f"probe {self.id}"


class ProbeRun(models.Model):
    """A worker took the request; of two that try, the second finds it taken. Append-only."""

    request = models.OneToOneField(ProbeRequest, on_delete=models.PROTECT, primary_key=True, related_name="run")
    worker_id = models.TextField()
    began_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "probe_runs"
        default_permissions = ()

    def __str__(self) -> str:
        return f"run of {self.request_id}"


class ProbeResult(models.Model):
    """What the probe found, once and for good; `report` is the JSON of exports.probing.Report. Append-only.

    `proposed_mode` is the publish mode it proposes, empty where the server has no race-free one or was not reached.
    """

    request = models.OneToOneField(ProbeRequest, on_delete=models.PROTECT, primary_key=True, related_name="result")
    worker_id = models.TextField()
    server = models.TextField()
    host_key = models.TextField()
    proposed_mode = models.TextField()
    report = models.JSONField()
    finished_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "probe_results"
        default_permissions = ()

    def __str__(self) -> str:
        return f"result of {self.request_id}"
