"""The reconciliation app."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from reconciliation import admin


class ReconciliationConfig(AppConfig):
    """Recovery and the settling of unknown outcomes; it registers its statements with exports' registry."""

    name = "reconciliation"

    def ready(self) -> None:
        """Register this app's statements, in every kind of process, and its screens where their login is set."""
        import_module("reconciliation.sql")
        if admin.ALIAS in settings.DATABASES:
            admin.register()
