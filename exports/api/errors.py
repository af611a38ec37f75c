"""What a client is told when something is not done: `{"code", "detail"}`, wrong fields by name, no insides.

The handler is REST framework's EXCEPTION_HANDLER. It also turns a database that cannot be reached, or will not
answer in time, into 503 with Retry-After: nothing was decided, and the same request may be sent again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 5
"""A restarting or failing-over database is back within seconds; asking sooner only adds to its load."""

NOT_FOUND = "There is nothing here, or it is not yours to see."
UNAVAILABLE = "The database did not answer. Nothing was decided; send the same request again."
THROTTLED = "Too many requests in a minute. Nothing was done; ask again after Retry-After seconds."
SERVER_ERROR = "Something went wrong here. It has been logged; nothing more is known."

CODES: Mapping[type[exceptions.APIException], str] = {
    exceptions.ParseError: "Malformed",
    exceptions.ValidationError: "Invalid",
    exceptions.AuthenticationFailed: "NotAuthenticated",
    exceptions.NotAuthenticated: "NotAuthenticated",
    exceptions.PermissionDenied: "Forbidden",
    exceptions.NotFound: "NotFound",
    exceptions.MethodNotAllowed: "MethodNotAllowed",
    exceptions.NotAcceptable: "NotAcceptable",
    exceptions.UnsupportedMediaType: "UnsupportedMediaType",
    exceptions.Throttled: "Throttled",
}


class TooLarge(exceptions.APIException):
    """The body is longer than any request here needs."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The body is too large."


def refuse(
    status_code: int,
    code: str,
    detail: str,
    *,
    retry_after_seconds: int | None = None,
    **more: Any,
) -> Response:
    """Answer that something was not done; `more` are facts that the code's documentation names."""
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    return Response({"code": code, "detail": detail, **more}, status=status_code, headers=headers)


def unsettled(job_id: UUID) -> Response:
    """Answer that neither the write nor the row could be read; `id` makes the next try the same request."""
    detail = "We could not tell whether the export was created. Send the same request again with this id."
    return refuse(503, "Busy", detail, retry_after_seconds=RETRY_AFTER_SECONDS, id=str(job_id))


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception of an API view into its answer; None lets Django log it and answer 500."""
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if isinstance(error, exceptions.APIException):
        set_rollback()
        return _answer(error)
    if isinstance(error, (OperationalError, InterfaceError)):
        view = type(context.get("view")).__name__
        logger.warning("database_away", extra={"view": str(view), "error": type(error).__name__})
        return refuse(503, "Unavailable", UNAVAILABLE, retry_after_seconds=RETRY_AFTER_SECONDS)
    return None


def _answer(error: exceptions.APIException) -> Response:
    headers = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    return Response(_body(error), status=error.status_code, headers=headers)


def _body(error: exceptions.APIException) -> dict[str, Any]:
    code = CODES.get(type(error), type(error).__name__)
    if isinstance(error, exceptions.NotFound):
        return {"code": code, "detail": NOT_FOUND}
    if isinstance(error, exceptions.Throttled):
        return {"code": code, "detail": THROTTLED}
    if isinstance(error, exceptions.ValidationError):
        fields = error.detail if isinstance(error.detail, dict) else {"non_field_errors": error.detail}
        return {"code": code, "detail": "Some fields are wrong; `fields` names them.", "fields": fields}
    return {"code": code, "detail": str(error.detail)}


def not_found(request: HttpRequest, **_: Any) -> JsonResponse:  # noqa: ARG001 - a view's signature
    """Answer any other path under the API's root."""
    return _plain(404, "NotFound", NOT_FOUND)


def server_error(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - a view's signature
    """Answer what no handler foresaw, without a word about the inside."""
    return _plain(500, "ServerError", SERVER_ERROR)


def _plain(status_code: int, code: str, detail: str) -> JsonResponse:
    # Byte for byte what the framework's renderer writes: an answer must not tell which code path made it.
    compact = {"separators": (",", ":")}
    return JsonResponse({"code": code, "detail": detail}, status=status_code, json_dumps_params=compact)
