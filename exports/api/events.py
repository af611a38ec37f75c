"""`exports/{id}/events/`: what happened, in the order it was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.api.base import ClientView
from exports.api.pages import PageQuery, asked, page_response, read_page
from exports.api.schema import JOB_ID, LISTING, READING, operation, page_of
from exports.api.serializers import EventSerializer
from exports.models import ExportAttemptEvent
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.response import Response

OLDEST_FIRST = Keyset(("id",), descending=False)


class EventList(ClientView):
    """The attempt events of one export."""

    @operation(
        "list_events",
        parameters=(JOB_ID, PageQuery),
        responses={200: page_of(EventSerializer), **LISTING, **READING},
    )
    def get(self, request: Request, job_id: str) -> Response:
        """List what happened to one export, oldest first."""
        job = self.find_job(job_id)
        query = asked(PageQuery, request)
        page = read_page(OLDEST_FIRST, ExportAttemptEvent.objects.filter(job_id=job.id), query)
        return page_response(request, page, list(EventSerializer(page.rows, many=True).data))
