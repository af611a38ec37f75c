"""The exports app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from exports import crashpoints, sessions
from exports.conf import limits


def apply_grants(*, using: str, **_: Any) -> None:
    """After a migration, give each login exactly its rights on the tables there now are (I7)."""
    from exports import catalogue  # noqa: PLC0415 - only a migration needs it

    connection = connections[using]
    if connection.vendor != "postgresql":
        return
    connection.ensure_connection()
    catalogue.warn_of_missing_roles(connection.connection)
    catalogue.apply(connection.connection)


class ExportsConfig(AppConfig):
    """Five tables, their statements, the worker and the console."""

    name = "exports"

    def ready(self) -> None:
        """Apply the grants whenever the tables may have changed; know every session (I6); arm what a test named."""
        connection_created.connect(sessions.remember, dispatch_uid="exports.sessions")
        crashpoints.arm_from(limits().crash_points)
        post_migrate.connect(apply_grants, sender=self, dispatch_uid="exports.apply_grants")
