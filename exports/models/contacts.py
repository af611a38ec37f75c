"""The built-in source of contacts. A company with CRM tables of its own sets EXPORT_SOURCE instead."""

from __future__ import annotations

from django.db import models

from exports.models.tenants import Tenant


class Contact(models.Model):
    """One contact of one tenant; external_id is the CRM's own key and unique within the tenant."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="contacts", db_index=False)
    external_id = models.TextField()
    email = models.TextField(blank=True)
    given_name = models.TextField(blank=True)
    family_name = models.TextField(blank=True)
    phone = models.TextField(blank=True)
    company = models.TextField(blank=True)
    country = models.TextField(blank=True)
    notes = models.TextField(blank=True)

    class Meta:
        db_table = "contacts"
        constraints = (models.UniqueConstraint(fields=("tenant", "external_id"), name="uq_contacts_tenant_external"),)

    def __str__(self) -> str:
        return self.external_id
