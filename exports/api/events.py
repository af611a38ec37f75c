"""`exports/{id}/events/`: what happened, in the order it was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_spectacular.utils import extend_schema

from exports.api.base import ClientView
from exports.api.pages import PageQuery, page_response, read_page
from exports.api.schema import FORBIDDEN, INVALID, NOT_AUTHENTICATED, NOT_FOUND, UNAVAILABLE, page_of
from exports.api.serializers import EventSerializer
from exports.models import ExportAttemptEvent
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.response import Response

OLDEST_FIRST = Keyset(("id",), descending=False)


class EventList(ClientView):
    """The attempt events of one export."""

    @extend_schema(
        operation_id="list_events",
        parameters=[PageQuery],
        responses={
            200: page_of(EventSerializer),
            400: INVALID,
            401: NOT_AUTHENTICATED,
            403: FORBIDDEN,
            404: NOT_FOUND,
            503: UNAVAILABLE,
        },
    )
    def get(self, request: Request, job_id: str) -> Response:
        """List what happened to one export, oldest first."""
        job = self.find_job(job_id)
        query = PageQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        page = read_page(OLDEST_FIRST, ExportAttemptEvent.objects.filter(job_id=job.id), query.validated_data)
        return page_response(request, page, list(EventSerializer(page.rows, many=True).data))
