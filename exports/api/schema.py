"""The OpenAPI document: the refusals that every operation shares, and the view that serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from drf_spectacular.utils import extend_schema as describe
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.permissions import AllowAny

from exports.api.serializers import BusySerializer, ErrorSerializer, InvalidSerializer

if TYPE_CHECKING:
    from collections.abc import Callable

View = TypeVar("View", bound="Callable[..., Any]")

INVALID = OpenApiResponse(InvalidSerializer, "`Invalid`, with the fields by name, or `Malformed`.")
NOT_FOUND = OpenApiResponse(ErrorSerializer, "`NotFound`: missing, or another tenant's.")

ALWAYS: Final[dict[int, Any]] = {
    401: OpenApiResponse(ErrorSerializer, "`NotAuthenticated`: no token, or a wrong one."),
    403: OpenApiResponse(ErrorSerializer, "`Forbidden`: the client has no such verb."),
    406: OpenApiResponse(ErrorSerializer, "`NotAcceptable`: answers are JSON."),
    429: OpenApiResponse(ErrorSerializer, "`Throttled`: too many requests in a minute. Nothing was done."),
    503: OpenApiResponse(ErrorSerializer, "`Unavailable`: nothing was decided; send the same request again."),
}
"""What any request may be answered, whatever it asks for."""

WRITING: Final[dict[int, Any]] = ALWAYS | {
    400: INVALID,
    404: NOT_FOUND,
    413: OpenApiResponse(ErrorSerializer, "`TooLarge`"),
    415: OpenApiResponse(ErrorSerializer, "`UnsupportedMediaType`: bodies are JSON."),
    503: OpenApiResponse(BusySerializer, "`Busy` (could not be told) or `Unavailable`: send the same request again."),
}
"""What a request with a body may be answered besides."""

READING: Final[dict[int, Any]] = ALWAYS | {404: NOT_FOUND}
LISTING: Final[dict[int, Any]] = ALWAYS | {400: INVALID}

RETRY_AFTER = OpenApiParameter(
    "Retry-After",
    int,
    OpenApiParameter.HEADER,
    description="Seconds after which asking again makes sense.",
    response=[429, 503],
)
JOB_ID = OpenApiParameter("job_id", UUID, OpenApiParameter.PATH, description="The export's id.")
LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, description="The address of the export.", response=[201]
)


def operation(operation_id: str, *, parameters: tuple[Any, ...] = (), **described: Any) -> Callable[[View], View]:
    """Describe an operation; what every one of them may answer and send along is added."""
    return describe(operation_id=operation_id, parameters=[*parameters, RETRY_AFTER], **described)


def page_of(item: type[serializers.BaseSerializer[Any]]) -> Any:
    """Describe a cursor page of items."""
    return inline_serializer(
        name=f"{item.__name__.removesuffix('Serializer')}Page",
        fields={
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": item(many=True),
        },
    )


SCHEMA_SECONDS = 300
"""How long a rendered schema is kept: it changes with a release, and costs more than any other answer here."""


@method_decorator(cache_page(SCHEMA_SECONDS), name="dispatch")
@describe(exclude=True)
class SchemaView(SpectacularAPIView):
    """The schema, for anybody: it is as public as the source of this project."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
