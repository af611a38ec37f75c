"""The console's admin site and the app configuration that makes it Django's default."""

from django.contrib.admin.apps import AdminConfig


class ConsoleAdminConfig(AdminConfig):
    """Django's admin with this project's site."""

    default_site = "exports.admin.site.ConsoleSite"
