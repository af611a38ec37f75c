"""The exports app."""

from django.apps import AppConfig


class ExportsConfig(AppConfig):
    """Five tables, their statements, the worker and the console."""

    name = "exports"
