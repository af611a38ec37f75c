"""The console: Django's AdminSite under this project's name, with its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite
from django.http import Http404
from django.urls import path, reverse
from django.utils.text import capfirst

from exports.admin import own_verbs
from exports.admin.pages import pages
from exports.admin.worklist import worklist_view
from exports.models import Hold
from exports.states import HoldCause

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


class ConsoleSite(AdminSite):
    """The operator console, under /admin/.

    It adds its own pages when it is made: Django makes the site while this package is being imported, so a
    page that registered itself on import would land on a second site.
    """

    site_title = "Contact exports"
    site_header = "Contact exports"
    index_title = "Overview"
    site_url = None
    enable_nav_sidebar = False  # the lists need the width; the way around is one line in the header

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        own_verbs.register()
        for model, page in pages().items():
            self.register(model, page)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the way around, which is the lists this person may see, and the freeze while there is one."""
        return {**super().each_context(request), "console_nav": self._nav(request), "frozen": self._frozen(request)}

    def get_urls(self) -> list[Any]:
        """Add the pages that belong to no single table."""
        return [path("worklist/", self.admin_view(worklist_view), name="worklist"), *super().get_urls()]

    def _frozen(self, request: HttpRequest) -> Hold | None:
        """Return the freeze in force: whoever opens any page at 3 a.m. has to know."""
        if not self.has_permission(request):
            return None
        return Hold.objects.filter(cause=HoldCause.FROZEN, ended_at=None).order_by("created_at").first()

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Put exports before what belongs to the framework, and its pages in their own order."""
        order = [model._meta.model_name for model in pages()]  # noqa: SLF001 - documented by Django
        apps = sorted(super().get_app_list(request, app_label), key=lambda app: app["app_label"] != "exports")
        for app in apps:
            if app["app_label"] == "exports":
                app["models"].sort(key=lambda page: order.index(page["model"]._meta.model_name))  # noqa: SLF001 - the same
        return apps

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002 - the framework's signature
        """Offer none: no form here uses it, and it would count whole tables."""
        raise Http404

    def _nav(self, request: HttpRequest) -> list[tuple[str, str]]:
        if not self.has_permission(request):
            return []
        worklist = [("Worklist", reverse(f"{self.name}:worklist"))]
        seen = (model for model in pages() if self._registry[model].has_view_permission(request))
        options = (model._meta for model in seen)  # noqa: SLF001 - documented by Django
        lists = [
            (
                capfirst(str(each.verbose_name_plural)),
                reverse(f"{self.name}:{each.app_label}_{each.model_name}_changelist"),
            )
            for each in options
        ]
        return [*lists[:1], *worklist, *lists[1:]] if request.user.has_perm("exports.view_exportjob") else lists
