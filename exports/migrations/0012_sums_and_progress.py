"""What happened in each hour, summed up; and how long a phase has taken, beside how far it is."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

from exports.states import Happened


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0011_two_persons"),
    ]

    operations = [
        migrations.AddField(
            model_name="attemptprogress",
            name="phase_seconds",
            field=models.FloatField(default=0.0),
        ),
        migrations.CreateModel(
            name="HourlySum",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "hour", "tenant_id", "what", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("hour", models.DateTimeField()),
                ("what", models.TextField(choices=[(each.value, each.value) for each in Happened])),
                ("count", models.BigIntegerField()),
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
                "db_table": "hourly_sums",
                "default_permissions": (),
            },
        ),
    ]
