"""The reconciliation app."""

from django.apps import AppConfig


class ReconciliationConfig(AppConfig):
    """Recovery and the settling of unknown outcomes; it registers its statements with exports' registry."""

    name = "reconciliation"
