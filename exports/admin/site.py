"""The console: Django's AdminSite under this project's name, with its pages."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final

from django.contrib.admin import AdminSite
from django.http import Http404, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.text import capfirst

from exports.admin import own_verbs, second_factor, signed_in
from exports.admin.code_pages import NEXT, code_view
from exports.admin.frame import PART
from exports.admin.overview import overview_context
from exports.admin.own_lists import OWN_LISTS, list_view
from exports.admin.pages import pages
from exports.admin.sign_in_form import SignInForm
from exports.admin.worklist import worklist_view
from exports.models import Hold
from exports.states import HoldCause

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.template.response import TemplateResponse


HIDDEN: Final = frozenset({"otp_totp.totpdevice", "knox.authtoken"})
"""Tables of libraries whose own pages would let a superuser read or change what counts as proof of a person."""


class ConsoleSite(AdminSite):
    """The operator console, under /admin/.

    It adds its own pages when it is made: Django makes the site while this package is being imported, so a
    page that registered itself on import would land on a second site.
    """

    login_form = SignInForm
    site_title = "Contact exports"
    site_header = "Contact exports"
    index_title = "Overview"
    site_url = None
    enable_nav_sidebar = False  # the lists need the width; the way around is one line in the header

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        own_verbs.register()
        signed_in.connect()
        for model, page in pages().items():
            self.register(model, page)

    def register(self, model_or_iterable: Any, *rest: Any, **named: Any) -> None:
        """Leave out what libraries would show: keys of second factors, and tokens past the page that gives them."""
        models: list[Any] = [model_or_iterable] if isinstance(model_or_iterable, type) else list(model_or_iterable)
        shown = [model for model in models if model._meta.label_lower not in HIDDEN]  # noqa: SLF001 - documented by Django
        super().register(shown, *rest, **named)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the way around, which is the lists this person may see, and the freeze while there is one."""
        return {**super().each_context(request), "console_nav": self._nav(request), "frozen": self._frozen(request)}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the overview, or to its own script only what it keeps fresh."""
        others = [app for app in self.get_app_list(request) if app["app_label"] != "exports"]
        context = {**(extra_context or {}), "other_apps": others, **overview_context(request)}
        answer = super().index(request, context)
        if request.headers.get(PART) and "overview" in context:
            answer.template_name = "admin/exports/overview.html"
        return answer

    def get_urls(self) -> list[Any]:
        """Add the pages that belong to no single table."""
        return [
            path("second-factor/", code_view, name="second_factor"),
            path("worklist/", self.admin_view(worklist_view), name="worklist"),
            *(
                path(f"exports/{name}/", self.admin_view(partial(list_view, shown=shown)), name=f"exports_{name}_list")
                for name, shown in OWN_LISTS.items()
            ),
            *super().get_urls(),
        ]

    def has_permission(self, request: HttpRequest) -> bool:
        """Tell whether any page opens: to staff who have given their second factor where one is asked for."""
        return bool(super().has_permission(request)) and second_factor.is_given(request)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002 - the framework's signature
        """Open a page only in a session that is not over."""
        opened = super().admin_view(view, cacheable)

        @wraps(opened)
        def in_session(request: HttpRequest, *rest: Any, **named: Any) -> Any:
            signed_in.end_if_over(request)
            return opened(request, *rest, **named)

        return in_session

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Ask for name and password, and whoever has given them for their code."""
        signed_in.end_if_over(request)
        if request.method == "GET" and super().has_permission(request) and not second_factor.is_given(request):
            onward = urlencode({NEXT: request.GET.get(NEXT, "")})
            return HttpResponseRedirect(f"{reverse(f'{self.name}:second_factor')}?{onward}")
        return super().login(request, extra_context)

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
        overview = [("Overview", reverse(f"{self.name}:index"))]
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
        lists += [
            (shown.title, reverse(f"{self.name}:exports_{name}_list"))
            for name, shown in OWN_LISTS.items()
            if request.user.has_perm(shown.permission)
        ]
        sees = request.user.has_perm("exports.view_exportjob")
        return [*overview, *lists[:1], *worklist, *lists[1:]] if sees else lists
