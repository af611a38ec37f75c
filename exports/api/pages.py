"""Cursor pages of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from exports.queries.keyset import BadCursor, Keyset, Page

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.request import Request

PAGE_SIZE = 50
LARGEST_PAGE = 200
"""A page of rows with their holds stays one quick query."""


class PageQuery(serializers.Serializer[Any]):
    """Where in a list to read, and how much."""

    cursor = serializers.CharField(required=False, max_length=500, help_text="From `next` or `previous`.")
    page_size = serializers.IntegerField(
        required=False, default=PAGE_SIZE, min_value=1, max_value=LARGEST_PAGE, help_text="Rows on a page."
    )


def asked(query: type[PageQuery], request: Request) -> dict[str, Any]:
    """Return what the address asks for; raise ValidationError naming what is wrong, also what is there and empty."""
    read = query(data=request.query_params.dict())
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)


def read_page(keyset: Keyset, rows: QuerySet[Any], query: dict[str, Any]) -> Page:
    """Return the page that a validated PageQuery asks for; raise ValidationError naming a bad cursor."""
    try:
        return keyset.page(rows, query["page_size"], query.get("cursor"))
    except BadCursor as error:
        raise ValidationError({"cursor": [str(error)]}) from error


def page_response(request: Request, page: Page, results: list[Any]) -> Response:
    """Wrap a page's results with the addresses of its neighbours."""
    here = request.build_absolute_uri()
    addresses = {
        name: replace_query_param(here, "cursor", cursor) if cursor else None
        for name, cursor in (("next", page.following), ("previous", page.preceding))
    }
    return Response({**addresses, "results": results})
