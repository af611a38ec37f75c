"""`exports/{id}/replacements/`: send again, in the name of the person whom the client is bound to (I8)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from drf_spectacular.utils import OpenApiResponse, inline_serializer
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response
from rest_framework.reverse import reverse

from exports.access import actor_name, reach_of
from exports.actions.create_replacement import (
    Answers,
    Created,
    IdReused,
    Judged,
    NoSuchAgreement,
    NotFound,
    NotReplaceable,
    Repeated,
    Replacement,
    ReplacementExists,
    SayWhy,
    Unsettled,
    Wish,
    create_replacement,
)
from exports.api import examples
from exports.api.base import ClientView
from exports.api.cancellations import LONGEST_REASON
from exports.api.errors import refuse, unsettled
from exports.api.schema import JOB_ID, LOCATION, WRITING, operation
from exports.api.serializers import ErrorSerializer, ExportSerializer, IdField, represent
from exports.models import Client, ExportJob

if TYPE_CHECKING:
    from rest_framework.request import Request

access_log = logging.getLogger("exports.access")

APPROVERS = "Export replacement approvers"
REPLACE = "exports.replace_exportjob"
LONGEST_LINE = 255
PERSON_REQUIRED = (
    "Sending again is decided by a named person: bind this client to a member of Export replacement approvers who"
    " belongs to the export's tenant."
)
EXISTS = "There is a replacement already: it is live, or it has delivered, or it found the original's file."


class JudgedBody(serializers.Serializer[Any]):
    """A yes or no, and where the person knows it from."""

    yes = serializers.BooleanField()
    source = serializers.CharField(max_length=LONGEST_LINE)  # type: ignore[assignment] # the framework takes it out


class AnswersBody(serializers.Serializer[Any]):
    """What no database knows; answers that speak against sending again need `why_nevertheless`."""

    original_may_still_upload = JudgedBody()
    reconciliation_was_tried = JudgedBody()
    partner_deduplicates = JudgedBody()
    why_nevertheless = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_REASON)


class ReplacementBody(serializers.Serializer[Any]):
    """The wish; `id` is the client's own request id and becomes the replacement's."""

    id = IdField(required=False, help_text="Sent again, the same request is the same replacement.")
    reason = serializers.CharField(max_length=LONGEST_REASON)
    answers = AnswersBody()
    overwrite_agreement_ref = serializers.CharField(required=False, allow_null=True, max_length=LONGEST_LINE)


REFUSED = inline_serializer(
    name="NotReplaced",
    fields={
        "code": serializers.CharField(),
        "detail": serializers.CharField(),
        "status": serializers.CharField(required=False),
        "failure_reason": serializers.CharField(required=False, allow_null=True),
        "replacement_id": serializers.UUIDField(required=False, allow_null=True),
    },
)


class ReplacementList(ClientView):
    """The place to have an export sent again."""

    # Judged below: a client without a person is told so, whatever else it lacks.
    verbs: ClassVar = {}

    @operation(
        "create_replacement",
        parameters=(JOB_ID, LOCATION),
        request=ReplacementBody,
        examples=[examples.REPLACE],
        responses={
            201: OpenApiResponse(ExportSerializer, "The replacement."),
            200: OpenApiResponse(ExportSerializer, "This request had created it before; as it is now."),
            **WRITING,
            403: OpenApiResponse(ErrorSerializer, "`PersonRequired`, or `Forbidden`: the client has no such verb."),
            409: OpenApiResponse(REFUSED, "`NotReplaceable`, `ReplacementExists` or `IdReused`."),
        },
    )
    def post(self, request: Request, job_id: str) -> Response:
        """Create the replacement of an export, or of the original of the replacement that is named."""
        job = self.find_job(job_id)
        decided_by = person_behind(request, job)
        if decided_by is None:
            return refuse(403, "PersonRequired", PERSON_REQUIRED)
        if not request.user.has_perm(REPLACE):
            raise exceptions.PermissionDenied
        body = ReplacementBody(data=request.data)
        body.is_valid(raise_exception=True)
        ids = {"job_id": str(job.id), "tenant_id": str(job.tenant_id)}
        access_log.info("replacement_asked_for", extra=ids | {"actor": self.actor, "decided_by": decided_by})
        wish = _wish(job, decided_by, body.validated_data)
        return self._answer(create_replacement(wish, using=ExportJob.objects.db))

    def _answer(self, answer: Replacement) -> Response:
        match answer:
            case Created(job):
                headers = {"Location": reverse("api:export", args=[job.id], request=self.request)}
                return Response(represent(job), status=status.HTTP_201_CREATED, headers=headers)
            case Repeated(job):
                return Response(represent(job))
            case NotFound():
                raise exceptions.NotFound
            case Unsettled(job_id):
                return unsettled(job_id)
            case _:
                return refused(answer)


Refusal = IdReused | NotReplaceable | ReplacementExists | SayWhy | NoSuchAgreement


def refused(answer: Refusal) -> Response:
    """Say why no replacement was created; nothing was written."""
    match answer:
        case IdReused():
            return refuse(409, "IdReused", "This id was used for something else. Nothing was done.")
        case NotReplaceable(found, reason):
            detail = "The original may not be replaced as it stands."
            return refuse(409, "NotReplaceable", detail, status=found, failure_reason=reason)
        case ReplacementExists(replacement_id):
            return refuse(409, "ReplacementExists", EXISTS, replacement_id=replacement_id and str(replacement_id))
        case SayWhy(objections):
            words = [*objections, "Say why it is sent again nevertheless."]
            raise exceptions.ValidationError({"answers": {"why_nevertheless": words}})
        case NoSuchAgreement():
            words = ["No such agreement is on record for this destination."]
            raise exceptions.ValidationError({"overwrite_agreement_ref": words})
        case _:
            assert_never(answer)


def person_behind(request: Request, job: ExportJob) -> str | None:
    """Return the name of the approver in whose name this client asks about this export; None without one."""
    clients = Client.objects.select_related("person").filter(user__username=request.user.get_username())
    client = clients.first()
    person = None if client is None else client.person
    if person is None or not person.is_active or not reach_of(person).covers(job.tenant_id):
        return None
    name = actor_name(person)
    is_approver = name.startswith("user:") and person.groups.filter(name=APPROVERS).exists()
    return name if is_approver else None


def _wish(job: ExportJob, decided_by: str, asked: dict[str, Any]) -> Wish:
    answers = asked["answers"]
    questions = ("original_may_still_upload", "reconciliation_was_tried", "partner_deduplicates")
    return Wish(
        tenant_id=job.tenant_id,
        replaced_job_id=job.id,
        decided_by=decided_by,
        reason=asked["reason"],
        answers=Answers(
            **{name: Judged(**answers[name]) for name in questions},
            why_nevertheless=answers.get("why_nevertheless", ""),
        ),
        overwrite_agreement_ref=asked.get("overwrite_agreement_ref") or None,
        job_id=asked.get("id"),
    )
