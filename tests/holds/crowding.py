"""Many queued exports at once, as the owner inserts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connections

if TYPE_CHECKING:
    from exports.models import Destination

_CROWD = """
WITH made AS (SELECT gen_random_uuid() AS id, n::text AS key FROM generate_series(1, %(count)s) n),
delivery AS (
    INSERT INTO deliveries (tenant_id, delivery_key, original_job_id)
    SELECT %(tenant)s, key, id FROM made)
INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, delivery_key, created_by, woken_at)
SELECT id, %(tenant)s, 'Queued', 1, %(destination)s, key, 'user:crowd', now() - interval '2 hours' FROM made
"""


def crowd(destination: Destination, count: int) -> None:
    """Let so many exports wait there, last woken two hours ago; their wake-ups are long gone."""
    with connections["default"].cursor() as cursor:
        cursor.execute(_CROWD, {"tenant": destination.tenant_id, "destination": destination.id, "count": count})
