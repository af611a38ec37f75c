"""Append-only companions: written by the same statement as the change they explain (I7)."""

from __future__ import annotations

from django.db import models

from exports.models.base import ClockTimestamp, StatementOwned, bare_reference


class CreationRequest(StatementOwned):
    """The first terms asked for under a client's id, so that an honest retry gets the same export."""

    job_id = models.UUIDField(primary_key=True)
    tenant = bare_reference("exports.Tenant")
    requested_by = models.TextField()
    destination = bare_reference("exports.Destination")
    replaces_job_id = models.UUIDField(null=True)
    recorded_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "creation_requests"

    def __str__(self) -> str:
        return str(self.job_id)


class TermsChange(StatementOwned):
    """Who moved a queued export to another destination, and why."""

    id = models.BigAutoField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    version = models.IntegerField()
    from_destination = bare_reference("exports.Destination")
    to_destination = bare_reference("exports.Destination")
    changed_by = models.TextField()
    reason = models.TextField(null=True)  # noqa: DJ001 - null when none was given
    recorded_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "terms_changes"
        constraints = (models.UniqueConstraint(fields=("job", "version"), name="uq_terms_changes_job_version"),)

    def __str__(self) -> str:
        return f"{self.job_id} v{self.version}"


class ExportRejection(StatementOwned):
    """Why policy refused an export, for the version it evaluated."""

    id = models.BigAutoField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    version = models.IntegerField()
    reasons = models.JSONField()
    recorded_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "export_rejections"
        constraints = (models.UniqueConstraint(fields=("job", "version"), name="uq_export_rejections_job_version"),)

    def __str__(self) -> str:
        return f"{self.job_id} v{self.version}"


class AuthorizedFile(StatementOwned):
    """How many contacts the file had that cutoff 2 let an attempt deliver; the next export's guard compares."""

    attempt_id = models.UUIDField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    rows = models.BigIntegerField()

    class Meta:
        db_table = "authorized_files"

    def __str__(self) -> str:
        return f"{self.rows} contacts"


class AcknowledgmentSeen(StatementOwned):
    """An acknowledgment that was collected for an attempt, so that nobody appends it a second time.

    `mark` tells it from another one under the same name: its content's hash, or else its size.
    """

    id = models.BigAutoField(primary_key=True)
    job = bare_reference("exports.ExportJob")
    attempt_id = models.UUIDField()
    name = models.TextField()
    mark = models.TextField()
    seen_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "acknowledgments_seen"
        constraints = (models.UniqueConstraint(fields=("attempt_id", "name", "mark"), name="uq_acknowledgments_seen"),)

    def __str__(self) -> str:
        return self.name


class OverwriteAgreement(models.Model):
    """Who at the partner agreed to an overwrite, when, and under which contract; append-only."""

    ref = models.TextField(primary_key=True)
    tenant = models.ForeignKey("exports.Tenant", on_delete=models.PROTECT, related_name="+")
    destination = models.ForeignKey("exports.Destination", on_delete=models.PROTECT, related_name="+")
    agreed_by = models.TextField()
    agreed_at = models.DateTimeField()
    under_contract = models.TextField()
    recorded_by = models.TextField()
    recorded_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        db_table = "overwrite_agreements"

    def __str__(self) -> str:
        return self.ref
