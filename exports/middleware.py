"""What every answer of the web process carries, and what a person is told while the database is away."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from django.template.loader import render_to_string

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

logger = logging.getLogger(__name__)

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing inline, nothing evaluated, nothing from elsewhere, in no frame (SECURITY: a click-happy page)."""

RETRY_AFTER_SECONDS: Final = 5


class ContentSecurityPolicy:
    """Sends the policy with every answer, errors and redirects included; no view can relax it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, and say what the page may load and do."""
        response = self.get_response(request)
        response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        return response


class DatabaseAway:
    """Turns a database that does not answer into a page that says so: 503 with Retry-After, not a 500."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; only exceptions of views matter here."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer for the console; None leaves every other error to Django."""
        if not isinstance(error, (OperationalError, InterfaceError)):
            return None
        logger.warning("database_away", extra={"path": request.path, "error": type(error).__name__})
        # Rendered without the request: whoever is signed in is a question to the database.
        page = render_to_string("503.html")
        return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
