"""The app that ties the project together and carries the commands of the development stack."""

from django.apps import AppConfig, apps


class ConfigConfig(AppConfig):
    """Settings, start-up checks and the commands `devstack` and `demo`."""

    name = "config"

    def ready(self) -> None:
        """Make this project's Celery application the current one in every process that may publish."""
        if apps.is_installed("exports"):
            from config import celery  # noqa: F401, PLC0415 - for its side effect, once the apps are loaded
