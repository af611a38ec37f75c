"""The job row: the current state of one export. Everything else explains how it came to be so."""

from __future__ import annotations

from django.db import models

from exports.managers import ExportJobManager
from exports.models.base import ClockTimestamp, StatementOwned, bare_reference
from exports.states import Status


class ExportJob(StatementOwned):
    """One export of one tenant's contacts to one destination.

    Columns, constraints and indexes are the reference's, under its names, created by the first migration;
    created_at is this project's addition. `version` counts the edits of the terms (destination_id);
    `lease_expires_at` makes an attempt eligible for takeover, a committed takeover ends it (I3).
    """

    id = models.UUIDField(primary_key=True)
    tenant = bare_reference("exports.Tenant")
    status = models.TextField(choices=[(s.value, s.value) for s in Status])
    version = models.IntegerField()
    destination = bare_reference("exports.Destination")
    attempt_id = models.UUIDField(null=True)
    attempt_count = models.IntegerField(db_default=0)
    claimed_by = models.TextField(null=True)  # noqa: DJ001 - null means nobody, as the reference has it
    lease_expires_at = models.DateTimeField(null=True)
    stop_request_id = models.UUIDField(null=True)
    cancellation_request_id = models.UUIDField(null=True)
    expected_file_name = models.TextField(null=True)  # noqa: DJ001 - null until cutoff 2
    expected_file_bytes = models.BigIntegerField(null=True)
    expected_file_sha256 = models.BinaryField(null=True)
    delivery_authorized_at = models.DateTimeField(null=True)
    woken_at = models.DateTimeField()
    failure_reason = models.TextField(null=True)  # noqa: DJ001 - null unless Failed, held by a constraint
    delivery_key = models.TextField()
    replaces_job_id = models.UUIDField(null=True)
    created_by = models.TextField()
    replacement_reason = models.TextField(null=True)  # noqa: DJ001 - null unless a replacement
    overwrite_agreement_ref = models.TextField(null=True)  # noqa: DJ001 - null unless a replacement
    sweep_count = models.IntegerField(db_default=0)
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    objects = ExportJobManager()

    class Meta:
        db_table = "export_jobs"
        verbose_name = "export"
        # Never changed or deleted as a row; the verbs have a permission each.
        default_permissions = ("add", "view")
        permissions = (
            ("cancel_exportjob", "Can cancel an export"),
            ("change_terms_exportjob", "Can move a queued export to another destination"),
            ("replace_exportjob", "Can decide to deliver again by a replacement"),
            ("reconcile_exportjob", "Can settle an unknown outcome with evidence"),
            ("correct_exportjob", "Can correct a recorded outcome"),
        )

    def __str__(self) -> str:
        return str(self.id)
