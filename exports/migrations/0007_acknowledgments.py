"""Which acknowledgments were collected, each once; and the index by which exports of unknown outcome are found."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import exports.models.base

# The collector walks a destination's unknown outcomes, oldest first; they are few among everything delivered.
UNKNOWN = """
CREATE INDEX ix_x_export_jobs_unknown ON export_jobs (destination_id, delivery_authorized_at, id)
    WHERE status = 'OutcomeUnknown';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0006_holds"),
    ]

    operations = [
        migrations.CreateModel(
            name="AcknowledgmentSeen",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("attempt_id", models.UUIDField()),
                ("name", models.TextField()),
                ("mark", models.TextField()),
                ("seen_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
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
                "db_table": "acknowledgments_seen",
            },
        ),
        migrations.AddConstraint(
            model_name="acknowledgmentseen",
            constraint=models.UniqueConstraint(fields=("attempt_id", "name", "mark"), name="uq_acknowledgments_seen"),
        ),
        migrations.RunSQL(sql=UNKNOWN, reverse_sql="DROP INDEX ix_x_export_jobs_unknown"),
    ]
