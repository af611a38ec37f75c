"""The URLs of the web process: the console, the REST API and the health checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import include, path
from django.views import defaults
from django.views.generic import RedirectView

from exports.api import errors, health
from exports.api.metrics import metrics

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("exports.api.urls")),
    path("healthz/live", health.live),
    path("healthz/ready", health.ready),
    path("metrics", metrics),
]


def _wants_json(request: HttpRequest) -> bool:
    return request.path.startswith(("/api/", "/healthz/"))


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown address, to a program in its own language."""
    return errors.not_found(request) if _wants_json(request) else defaults.page_not_found(request, exception)


def handler500(request: HttpRequest, **_: Any) -> HttpResponse:
    """Answer what nobody foresaw; the log has it, the answer does not."""
    return errors.server_error(request) if _wants_json(request) else defaults.server_error(request)
