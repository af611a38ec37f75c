"""The reconciliation app."""

from importlib import import_module

from django.apps import AppConfig


class ReconciliationConfig(AppConfig):
    """Recovery and the settling of unknown outcomes; it registers its statements with exports' registry."""

    name = "reconciliation"

    def ready(self) -> None:
        """Register this app's statements, in every kind of process."""
        import_module("reconciliation.sql")
