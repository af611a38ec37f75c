"""The app that carries the commands of the development stack."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Settings, start-up checks and the commands `devstack` and `demo`."""

    name = "config"
