"""What lists, the overview and the worklist read at any size: each index with the question it answers."""

from __future__ import annotations

from django.db import migrations

# What waits for a person, oldest first, by what the rows themselves say. Nearly every export passes it by: it costs
# only those that end in doubt, and queued ones that the sweeper has woken in vain. The 3 is
# exports.queries.worklist.SWEPT_OFTEN.
ATTENTION = """
CREATE INDEX ix_x_export_jobs_attention ON export_jobs (created_at, id)
    WHERE status = 'OutcomeUnknown' OR (status = 'Failed' AND failure_reason = 'FinalNameOccupied')
       OR (status = 'Queued' AND sweep_count > 3);
"""

# One status, newest first, and how many there are. The tenant stands last: it is no part of the order, but whoever
# sees one tenant only passes the others' exports by without reading their rows.
STATUS = "CREATE INDEX ix_x_export_jobs_status ON export_jobs (status, created_at DESC, id DESC, tenant_id)"

# What one person or client created, or what goes to one destination, newest first, however long ago that was:
# walking the list of all would read every export since.
CREATED_BY = "CREATE INDEX ix_x_export_jobs_created_by ON export_jobs (created_by, created_at DESC, id DESC, tenant_id)"
DESTINATION = "CREATE INDEX ix_x_export_jobs_destination ON export_jobs (destination_id, created_at DESC, id DESC)"

# Events of a kind: the frequent ones are found by walking the newest, the others would not be. It holds only these.
RARE = """
CREATE INDEX ix_x_attempt_events_rare ON export_attempt_events (kind, id)
    WHERE kind NOT IN ('Claimed', 'DeliveryAuthorized', 'Finished', 'DeliveryEvidence');
"""

# What ended within an hour. Rows come in the order of time, so that a few pages of ranges serve for an index:
# a thousandth of a B-tree's size, and next to nothing to write.
TIME = """
CREATE INDEX ix_x_attempt_events_time ON export_attempt_events USING brin (recorded_at)
    WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX ix_x_export_rejections_time ON export_rejections USING brin (recorded_at)
    WITH (pages_per_range = 32, autosummarize = on);
"""

# Clicks on cancel, newest first; the tenant last, as above.
CLICKS = """
CREATE INDEX ix_x_cancellation_requests_recent ON cancellation_requests (recorded_at DESC, id DESC, tenant_id);
"""
HOLDS = "CREATE INDEX ix_x_holds_recent ON holds (created_at DESC, id DESC)"

NAMES = (
    "ix_x_export_jobs_attention",
    "ix_x_export_jobs_status",
    "ix_x_export_jobs_created_by",
    "ix_x_export_jobs_destination",
    "ix_x_attempt_events_rare",
    "ix_x_attempt_events_time",
    "ix_x_export_rejections_time",
    "ix_x_cancellation_requests_recent",
    "ix_x_holds_recent",
)


class Migration(migrations.Migration):
    dependencies = [
        ("exports", "0008_probes"),
    ]

    operations = [
        migrations.RunSQL(
            sql=[ATTENTION, STATUS, CREATED_BY, DESTINATION, RARE, TIME, CLICKS, HOLDS],
            reverse_sql=f"DROP INDEX {', '.join(NAMES)}",
        ),
    ]
