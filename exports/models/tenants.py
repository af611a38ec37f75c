"""Whose data it is, who may see it, and which client systems speak for it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Tenant(models.Model):
    """A customer of the CRM. Every read and write carries its id (SECURITY: another tenant's data)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=200)
    is_active = models.BooleanField(default=True)

    class Meta:
        db_table = "tenants"
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's or client's access to one tenant; superusers see all without one."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        db_table = "memberships"
        constraints = (models.UniqueConstraint(fields=("user", "tenant"), name="uq_memberships_user_tenant"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.tenant}"


class Client(models.Model):
    """A client system that calls the REST API through tokens of its own user.

    `name` appears in created_by as `client:<name>` and is never reused. `person`, when set, is the approver on
    whose behalf a replacement may be requested (INTERFACES: PersonRequired).
    """

    name = models.SlugField(unique=True, max_length=60)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="client")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )

    class Meta:
        db_table = "api_clients"
        verbose_name = "client system"

    def __str__(self) -> str:
        return self.name
