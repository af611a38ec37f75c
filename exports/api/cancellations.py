"""`exports/{id}/cancellation-requests/`: every click on cancel and its one recorded outcome (I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound as NothingHere
from rest_framework.response import Response

from exports.actions.request_cancellation import (
    Busy,
    CancellationAnswer,
    Click,
    NotFound,
    Recorded,
    RequestIdReused,
    request_cancellation,
)
from exports.api import examples
from exports.api.base import CANCEL, VIEW, ClientView
from exports.api.errors import refuse
from exports.api.pages import PageQuery, asked, page_response, read_page
from exports.api.schema import JOB_ID, LISTING, READING, WRITING, operation, page_of
from exports.api.serializers import CancellationRequestSerializer, ErrorSerializer
from exports.api.throttles import Kind
from exports.models import CancellationRequest, ExportJob
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from rest_framework.request import Request

OLDEST_FIRST = Keyset(("recorded_at", "id"), descending=False)

LONGEST_REASON = 2_000
"""Characters; a reason is read by people in a timeline, not a document."""


class ClickBody(serializers.Serializer[Any]):
    """One click on cancel; a repeat of it sends the same `request_id`, and the first reason stands."""

    request_id = serializers.UUIDField()
    reason = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=LONGEST_REASON)


class CancellationRequestList(ClientView):
    """The cancellation requests of one export, and the place to make one."""

    verbs: ClassVar = {"GET": VIEW, "POST": CANCEL}
    writes_are = Kind.CANCEL

    @operation(
        "list_cancellation_requests",
        parameters=(JOB_ID, PageQuery),
        responses={200: page_of(CancellationRequestSerializer), **LISTING, **READING},
    )
    def get(self, request: Request, job_id: str) -> Response:
        """List the clicks on cancel, oldest first."""
        job = self.find_job(job_id)
        query = asked(PageQuery, request)
        rows = CancellationRequest.objects.filter(tenant_id=job.tenant_id, job_id=job.id)
        page = read_page(OLDEST_FIRST, rows, query)
        return page_response(request, page, list(CancellationRequestSerializer(page.rows, many=True).data))

    @operation(
        "request_cancellation",
        parameters=(JOB_ID,),
        request=ClickBody,
        examples=[examples.CANCEL],
        responses={
            201: OpenApiResponse(CancellationRequestSerializer, "Recorded, with what it found and came to."),
            200: OpenApiResponse(CancellationRequestSerializer, "This click was recorded before; as then."),
            **WRITING,
            409: OpenApiResponse(ErrorSerializer, "`RequestIdReused`: the id belongs to another click."),
        },
    )
    def post(self, request: Request, job_id: str) -> Response:
        """Cancel the export, or ask it to stop; the answer is what was recorded."""
        job = self.find_job(job_id)
        body = ClickBody(data=request.data)
        body.is_valid(raise_exception=True)
        click = Click(
            tenant_id=job.tenant_id,
            job_id=job.id,
            request_id=body.validated_data["request_id"],
            requested_by=self.actor,
            reason=body.validated_data.get("reason") or None,
        )
        return answer_to(request_cancellation(click, using=ExportJob.objects.db))


def answer_to(answer: CancellationAnswer) -> Response:
    """Say what came of a click, in HTTP's words."""
    match answer:
        case Recorded(recorded, repeated):
            code = status.HTTP_200_OK if repeated else status.HTTP_201_CREATED
            return Response(CancellationRequestSerializer(recorded).data, status=code)
        case RequestIdReused():
            detail = "This request id belongs to another request. Nothing was done."
            return refuse(409, "RequestIdReused", detail)
        case Busy(_, _, retry_after_seconds):
            detail = "We could not tell. Send the same click again, with the same request_id."
            return refuse(503, "Busy", detail, retry_after_seconds=retry_after_seconds)
        case NotFound():
            raise NothingHere
        case _:
            assert_never(answer)
