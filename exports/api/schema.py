"""The OpenAPI document: the refusals that every operation shares, and the view that serves it."""

from __future__ import annotations

from typing import Any

from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.permissions import AllowAny

from exports.api.serializers import ErrorSerializer, InvalidSerializer

INVALID = OpenApiResponse(InvalidSerializer, "`Invalid`, with the fields by name, or `Malformed`.")
NOT_AUTHENTICATED = OpenApiResponse(ErrorSerializer, "`NotAuthenticated`: no token, or a wrong one.")
FORBIDDEN = OpenApiResponse(ErrorSerializer, "`Forbidden`: the client has no such verb.")
NOT_FOUND = OpenApiResponse(ErrorSerializer, "`NotFound`: missing, or another tenant's.")
UNAVAILABLE = OpenApiResponse(ErrorSerializer, "`Unavailable`, with Retry-After; nothing was decided.")


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
@extend_schema(exclude=True)
class SchemaView(SpectacularAPIView):
    """The schema, for anybody: it is as public as the source of this project."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
