"""The exports app."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created


class ExportsConfig(AppConfig):
    """Five tables, their statements, the worker and the console."""

    name = "exports"

    def ready(self) -> None:
        """Record every database session, so that one whose answer was lost can be ended for certain."""
        from exports import sessions  # noqa: PLC0415 - apps must be loaded first

        connection_created.connect(sessions.remember, dispatch_uid="exports.sessions")
