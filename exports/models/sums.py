"""How much happened in each hour, for the overview: sums of facts that never change, and no fact themselves."""

from __future__ import annotations

from django.db import models

from exports.models.base import bare_reference
from exports.states import Happened


class HourlySum(models.Model):
    """How many of a tenant's exports were created, or ended so, within one hour (UTC).

    Counted again by a worker as long as an hour may still grow, and forgotten after a week: the events remain.
    """

    pk = models.CompositePrimaryKey("hour", "tenant_id", "what")
    hour = models.DateTimeField()
    tenant = bare_reference("exports.Tenant")
    what = models.TextField(choices=[(each.value, each.value) for each in Happened])
    count = models.BigIntegerField()

    class Meta:
        db_table = "hourly_sums"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.count} {self.what} at {self.hour}"
