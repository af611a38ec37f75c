"""Probes of a destination: the request, which worker took it, and what it found."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.db import migrations, models

import exports.models.base


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0007_acknowledgments"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProbeRequest",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("requested_by", models.TextField()),
                ("requested_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "contract",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="exports.destinationcontract",
                    ),
                ),
                (
                    "destination",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="probe_requests",
                        to="exports.destination",
                    ),
                ),
            ],
            options={
                "db_table": "probe_requests",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["destination", "requested_at"], name="ix_x_probe_requests_place"),
                    models.Index(fields=["requested_at"], name="ix_x_probe_requests_recent"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProbeRun",
            fields=[
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="run",
                        serialize=False,
                        to="exports.proberequest",
                    ),
                ),
                ("worker_id", models.TextField()),
                ("began_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
            ],
            options={"db_table": "probe_runs", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="ProbeResult",
            fields=[
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="result",
                        serialize=False,
                        to="exports.proberequest",
                    ),
                ),
                ("worker_id", models.TextField()),
                ("server", models.TextField()),
                ("host_key", models.TextField()),
                ("proposed_mode", models.TextField()),
                ("report", models.JSONField()),
                ("finished_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
            ],
            options={"db_table": "probe_results", "default_permissions": ()},
        ),
    ]
