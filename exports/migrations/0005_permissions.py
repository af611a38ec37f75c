"""A permission for each verb on an export, and the index that lists over several tenants walk."""

from __future__ import annotations

from django.db import migrations

# A person of several tenants, and a superuser, see one list: newest first over all of them.
FORWARDS = "CREATE INDEX ix_x_export_jobs_recent ON export_jobs (created_at DESC, id DESC)"
BACKWARDS = "DROP INDEX ix_x_export_jobs_recent"


class Migration(migrations.Migration):
    dependencies = [("exports", "0004_guards")]

    operations = [
        migrations.AlterModelOptions(
            name="exportjob",
            options={
                "default_permissions": ("add", "view"),
                "permissions": (
                    ("cancel_exportjob", "Can cancel an export"),
                    ("change_terms_exportjob", "Can move a queued export to another destination"),
                    ("replace_exportjob", "Can decide to deliver again by a replacement"),
                    ("reconcile_exportjob", "Can settle an unknown outcome with evidence"),
                    ("correct_exportjob", "Can correct a recorded outcome"),
                ),
                "verbose_name": "export",
            },
        ),
        migrations.RunSQL(sql=FORWARDS, reverse_sql=BACKWARDS),
    ]
