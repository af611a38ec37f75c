"""Whose wake-up it is, beside the wake-up: one index then finds each tenant's oldest, and the tenants themselves."""

from __future__ import annotations

import uuid

from django.db import migrations, models

# From tenant to tenant, and in each by age; the dispatcher's statement touches nothing else.
ROUNDS = """
CREATE INDEX ix_x_outbox_rounds ON outbox (tenant_id, created_at) WHERE published_at IS NULL;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0009_lists"),
    ]

    operations = [
        migrations.AddField(
            model_name="outboxmessage",
            name="tenant_id",
            field=models.UUIDField(db_default=uuid.UUID(int=0)),
        ),
        migrations.RunSQL(sql=ROUNDS, reverse_sql="DROP INDEX ix_x_outbox_rounds"),
    ]
