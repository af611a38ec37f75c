"""The console: Django's AdminSite under this project's name."""

from django.contrib.admin import AdminSite


class ConsoleSite(AdminSite):
    """The operator console, under /admin/."""

    site_title = "Contact exports"
    site_header = "Contact exports"
    index_title = "Overview"
