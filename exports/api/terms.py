"""`exports/{id}/terms/`: send a queued export to another destination (I1, I5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from drf_spectacular.utils import OpenApiResponse, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.response import Response

from exports.actions.change_terms import (
    Changed,
    NoSuchExport,
    NotChanged,
    TermsAnswer,
    TermsBusy,
    TermsEdit,
    change_terms,
)
from exports.api import examples
from exports.api.base import CHANGE_TERMS, ClientView
from exports.api.cancellations import LONGEST_REASON
from exports.api.errors import refuse
from exports.api.schema import JOB_ID, WRITING, operation
from exports.api.serializers import ExportSerializer, represent
from exports.models import ExportJob
from exports.queries import jobs

if TYPE_CHECKING:
    from rest_framework.request import Request


class TermsBody(serializers.Serializer[Any]):
    """The wish: this destination, for the export in the version that was looked at."""

    destination_id = serializers.UUIDField()
    expected_version = serializers.IntegerField(min_value=1, max_value=2_147_483_647)
    reason = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=LONGEST_REASON)


NOT_CHANGED = inline_serializer(
    name="NotChanged",
    fields={"code": serializers.CharField(), "detail": serializers.CharField(), "export": ExportSerializer()},
)


class Terms(ClientView):
    """The terms of one export: where it goes."""

    verbs: ClassVar = {"POST": CHANGE_TERMS}

    @operation(
        "change_terms",
        parameters=(JOB_ID,),
        request=TermsBody,
        examples=[examples.CHANGE_TERMS],
        responses={
            200: OpenApiResponse(ExportSerializer, "Changed; the export with its new version."),
            **WRITING,
            409: OpenApiResponse(NOT_CHANGED, "`NotChanged`, with the export as it is now."),
        },
    )
    def post(self, request: Request, job_id: str) -> Response:
        """Change the destination of a queued export that is no replacement."""
        job = self.find_job(job_id)
        body = TermsBody(data=request.data)
        body.is_valid(raise_exception=True)
        edit = TermsEdit(
            tenant_id=job.tenant_id,
            job_id=job.id,
            destination_id=body.validated_data["destination_id"],
            expected_version=body.validated_data["expected_version"],
            changed_by=self.actor,
            reason=body.validated_data.get("reason") or None,
        )
        return self._answer(job, change_terms(edit, using=ExportJob.objects.db))

    def _answer(self, job: ExportJob, answer: TermsAnswer) -> Response:
        match answer:
            case Changed(version):
                # The answer says what this edit did, even when a worker has claimed the export since.
                return Response({**represent(self._now(job)), "version": version})
            case NotChanged(_):
                detail = "It started, ended, was edited since, is a replacement, or may not go there."
                return refuse(409, "NotChanged", detail, export=represent(self._now(job)))
            case NoSuchExport():
                raise NotFound
            case TermsBusy(retry_after_seconds):
                detail = "We could not tell. Send the same request again, with the same expected_version."
                return refuse(503, "Busy", detail, retry_after_seconds=retry_after_seconds)
            case _:
                assert_never(answer)

    def _now(self, job: ExportJob) -> ExportJob:
        found: ExportJob | None = jobs.visible(self.reach).filter(id=job.id).first()
        if found is None:
            raise NotFound
        return found
