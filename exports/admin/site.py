"""The console: Django's AdminSite under this project's name, with its pages."""

from __future__ import annotations

from django.contrib.admin import AdminSite

from exports.admin.pages import pages


class ConsoleSite(AdminSite):
    """The operator console, under /admin/.

    It adds its own pages when it is made: Django makes the site while this package is being imported, so a
    page that registered itself on import would land on a second site.
    """

    site_title = "Contact exports"
    site_header = "Contact exports"
    index_title = "Overview"
    site_url = None

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        for model, page in pages().items():
            self.register(model, page)
