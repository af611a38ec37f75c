"""Holds with a cause, on one export too; what was authorized with how many contacts; and the indexes for slots."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

# VOLATILE: inside a statement that waited for locks, each call reads what is committed by then. Named with its
# schema, because a session could put a temporary table of the same name in front.
FREEZE = """
CREATE FUNCTION exports_frozen() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $frozen$
BEGIN
    RETURN EXISTS (SELECT FROM public.holds h
                   WHERE h.cause = 'Frozen' AND h.ended_at IS NULL AND (h.until IS NULL OR h.until > clock_timestamp()));
END $frozen$;
"""

# Which attempts of a destination occupy a slot, which count for its pace, and which of its exports wait.
SLOTS = """
CREATE INDEX ix_x_export_jobs_slots ON export_jobs (destination_id) WHERE status IN ('Running', 'Delivering');
CREATE INDEX ix_x_export_jobs_pace ON export_jobs (destination_id, delivery_authorized_at)
    WHERE delivery_authorized_at IS NOT NULL;
CREATE INDEX ix_x_export_jobs_waiting ON export_jobs (destination_id, woken_at) WHERE status = 'Queued';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0005_permissions"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuthorizedFile",
            fields=[
                ("attempt_id", models.UUIDField(primary_key=True, serialize=False)),
                ("rows", models.BigIntegerField()),
            ],
            options={
                "db_table": "authorized_files",
            },
        ),
        migrations.AddField(
            model_name="hold",
            name="cause",
            field=models.TextField(
                choices=[
                    ("Paused", "Paused"),
                    ("Frozen", "Frozen"),
                    ("Cap", "Cap"),
                    ("Rate", "Rate"),
                    ("Unreachable", "Unreachable"),
                    ("Guard", "Guard"),
                ],
                default="Paused",
            ),
        ),
        migrations.AddField(
            model_name="hold",
            name="ended_reason",
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="hold",
            name="job_id",
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="hold",
            name="released_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="hold",
            name="version",
            field=models.IntegerField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("released_at", None)), fields=["created_at"], name="ix_x_holds_unreleased"
            ),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("job_id__isnull", False)), fields=["job_id", "version"], name="ix_x_holds_job"
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.UniqueConstraint(
                condition=models.Q(("cause__in", ["Cap", "Rate", "Unreachable"]), ("ended_at", None)),
                fields=("destination", "cause"),
                name="uq_holds_automatic",
            ),
        ),
        migrations.AddField(
            model_name="authorizedfile",
            name="job",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="exports.exportjob",
            ),
        ),
        migrations.RunSQL(sql=FREEZE, reverse_sql="DROP FUNCTION exports_frozen()"),
        migrations.RunSQL(
            sql=SLOTS,
            reverse_sql="DROP INDEX ix_x_export_jobs_slots, ix_x_export_jobs_pace, ix_x_export_jobs_waiting",
        ),
    ]
