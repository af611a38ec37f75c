"""Tenants, who may see them, destinations with contracts, and the built-in contacts."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import exports.models.base


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Destination",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=200)),
                ("is_enabled", models.BooleanField(default=True)),
            ],
            options={
                "db_table": "destinations",
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("is_active", models.BooleanField(default=True)),
            ],
            options={
                "db_table": "tenants",
                "ordering": ("slug",),
            },
        ),
        migrations.CreateModel(
            name="Client",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("name", models.SlugField(max_length=60, unique=True)),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="client",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "client system",
                "db_table": "api_clients",
            },
        ),
        migrations.CreateModel(
            name="DestinationContract",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("version", models.PositiveIntegerField()),
                ("terms", models.JSONField()),
                ("reason", models.TextField()),
                ("created_by", models.TextField()),
                ("created_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "destination",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contracts",
                        to="exports.destination",
                    ),
                ),
            ],
            options={
                "db_table": "destination_contracts",
            },
        ),
        migrations.AddField(
            model_name="destination",
            name="active_contract",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="exports.destinationcontract",
            ),
        ),
        migrations.CreateModel(
            name="DestinationSecret",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("ciphertext", models.BinaryField()),
                ("created_by", models.TextField()),
                ("created_at", models.DateTimeField(db_default=exports.models.base.ClockTimestamp())),
                (
                    "destination",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="secrets",
                        to="exports.destination",
                    ),
                ),
            ],
            options={
                "db_table": "destination_secrets",
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="exports.tenant",
                    ),
                ),
            ],
            options={
                "db_table": "memberships",
            },
        ),
        migrations.AddField(
            model_name="destination",
            name="tenant",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="destinations", to="exports.tenant"
            ),
        ),
        migrations.CreateModel(
            name="Contact",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("external_id", models.TextField()),
                ("email", models.TextField(blank=True)),
                ("given_name", models.TextField(blank=True)),
                ("family_name", models.TextField(blank=True)),
                ("phone", models.TextField(blank=True)),
                ("company", models.TextField(blank=True)),
                ("country", models.TextField(blank=True)),
                ("notes", models.TextField(blank=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contacts",
                        to="exports.tenant",
                    ),
                ),
            ],
            options={
                "db_table": "contacts",
            },
        ),
        migrations.AddConstraint(
            model_name="destinationcontract",
            constraint=models.UniqueConstraint(
                fields=("destination", "version"), name="uq_destination_contracts_version"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("user", "tenant"), name="uq_memberships_user_tenant"),
        ),
        migrations.AddConstraint(
            model_name="destination",
            constraint=models.UniqueConstraint(fields=("tenant", "name"), name="uq_destinations_tenant_name"),
        ),
        migrations.AddConstraint(
            model_name="contact",
            constraint=models.UniqueConstraint(fields=("tenant", "external_id"), name="uq_contacts_tenant_external"),
        ),
    ]
