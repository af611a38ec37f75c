"""One row per delivery key: who minted it (I8)."""

from __future__ import annotations

from django.db import models

from exports.models.base import StatementOwned, bare_reference


class Delivery(StatementOwned):
    """A delivery key and the original export that minted it; written once with that export, never changed."""

    pk = models.CompositePrimaryKey("tenant_id", "delivery_key")
    tenant = bare_reference("exports.Tenant")
    delivery_key = models.TextField()
    original_job = bare_reference("exports.ExportJob")

    class Meta:
        db_table = "deliveries"
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return self.delivery_key
