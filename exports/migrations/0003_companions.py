"""What is kept beside the five tables: append-only companions, holds, progress, heartbeats."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.db import migrations, models

import exports.models.base


class Migration(migrations.Migration):
    dependencies = [("exports", "0002_five_tables")]

    operations = [
        migrations.CreateModel(
            name="ProcessHeartbeat",
            fields=[
                ("process_id", models.TextField(primary_key=True, serialize=False)),
                ("role", models.TextField()),
                ("started_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                ("seen_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
            ],
            options={
                "db_table": "process_heartbeats",
            },
        ),
        migrations.CreateModel(
            name="AttemptProgress",
            fields=[
                ("attempt_id", models.UUIDField(primary_key=True, serialize=False)),
                ("phase", models.TextField()),
                ("rows_done", models.BigIntegerField(null=True)),
                ("bytes_done", models.BigIntegerField(null=True)),
                ("bytes_total", models.BigIntegerField(null=True)),
                ("updated_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.exportjob",
                    ),
                ),
            ],
            options={
                "db_table": "attempt_progress",
            },
        ),
        migrations.CreateModel(
            name="ExportRejection",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("version", models.IntegerField()),
                ("reasons", models.JSONField()),
                ("recorded_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.exportjob",
                    ),
                ),
            ],
            options={
                "db_table": "export_rejections",
            },
        ),
        migrations.CreateModel(
            name="OverwriteAgreement",
            fields=[
                ("ref", models.TextField(primary_key=True, serialize=False)),
                ("agreed_by", models.TextField()),
                ("agreed_at", models.DateTimeField()),
                ("under_contract", models.TextField()),
                ("recorded_by", models.TextField()),
                ("recorded_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "destination",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="exports.destination",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="exports.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "overwrite_agreements",
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("reason", models.TextField()),
                ("created_by", models.TextField()),
                ("created_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("ended_by", models.TextField(blank=True, null=True)),
                (
                    "destination",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="exports.destination",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="exports.tenant",
                    ),
                ),
            ],
            options={
                "db_table": "holds",
            },
        ),
        migrations.CreateModel(
            name="CreationRequest",
            fields=[
                ("job_id", models.UUIDField(primary_key=True, serialize=False)),
                ("requested_by", models.TextField()),
                ("replaces_job_id", models.UUIDField(null=True)),
                ("recorded_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "destination",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.destination",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.tenant",
                    ),
                ),
            ],
            options={
                "db_table": "creation_requests",
            },
        ),
        migrations.CreateModel(
            name="TermsChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("version", models.IntegerField()),
                ("changed_by", models.TextField()),
                ("reason", models.TextField(null=True)),
                ("recorded_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "from_destination",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.destination",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.exportjob",
                    ),
                ),
                (
                    "to_destination",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="exports.destination",
                    ),
                ),
            ],
            options={
                "db_table": "terms_changes",
            },
        ),
        migrations.AddConstraint(
            model_name="exportrejection",
            constraint=models.UniqueConstraint(fields=("job", "version"), name="uq_export_rejections_job_version"),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("ended_at", None)),
                fields=["destination", "tenant"],
                name="ix_x_holds_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="termschange",
            constraint=models.UniqueConstraint(fields=("job", "version"), name="uq_terms_changes_job_version"),
        ),
        migrations.RunSQL(
            # Progress is worth nothing after a crash; unlogged, it costs no write-ahead log.
            sql="ALTER TABLE attempt_progress SET UNLOGGED",
            reverse_sql="ALTER TABLE attempt_progress SET LOGGED",
        ),
    ]
