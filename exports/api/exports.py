"""`exports/`: create one, list them, read one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework.reverse import reverse

from exports.actions.create_export import (
    Created,
    Creation,
    IdReused,
    NoSuchDestination,
    Repeated,
    Unsettled,
    create_export,
)
from exports.api import examples
from exports.api.base import CREATE, VIEW, ClientView
from exports.api.errors import refuse, unsettled
from exports.api.pages import PageQuery, asked, page_response, read_page
from exports.api.schema import JOB_ID, LISTING, LOCATION, READING, WRITING, operation, page_of
from exports.api.serializers import (
    ErrorSerializer,
    ExportSerializer,
    IdField,
    represent,
    represent_all,
)
from exports.models import Destination, ExportJob
from exports.queries import jobs
from exports.states import Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet
    from rest_framework.request import Request


class CreationBody(serializers.Serializer[Any]):
    """What a client asks for; `id` is its own request id and becomes the export's."""

    id = IdField(required=False, help_text="Sent again, the same request is the same export.")
    destination_id = IdField()


class ListQuery(PageQuery):
    """Which exports to list; conditions that are given all apply."""

    status = serializers.ChoiceField(choices=[each.value for each in Status], required=False)
    destination = serializers.UUIDField(required=False)
    delivery_key = serializers.CharField(required=False, max_length=200)
    created_by = serializers.CharField(required=False, max_length=200)
    since = serializers.DateTimeField(required=False, help_text="Created at or after this time.")


COLUMN_OF = {
    "status": "status",
    "destination": "destination_id",
    "delivery_key": "delivery_key",
    "created_by": "created_by",
    "since": "created_at__gte",
}


class ExportList(ClientView):
    """All exports within reach, and the place to create one."""

    verbs: ClassVar = {"GET": VIEW, "POST": CREATE}

    @operation(
        "list_exports",
        parameters=(ListQuery,),
        responses={200: page_of(ExportSerializer), **LISTING},
    )
    def get(self, request: Request) -> Response:
        """List exports, newest first."""
        query = asked(ListQuery, request)
        page = read_page(jobs.NEWEST_FIRST, self._filtered(query), query)
        return page_response(request, page, represent_all(page.rows))

    def _filtered(self, query: dict[str, Any]) -> QuerySet[Any]:
        conditions = {COLUMN_OF[name]: value for name, value in query.items() if name in COLUMN_OF}
        return jobs.visible(self.reach).filter(**conditions)

    @operation(
        "create_export",
        parameters=(LOCATION,),
        request=CreationBody,
        examples=[examples.CREATE],
        responses={
            201: OpenApiResponse(ExportSerializer, "Created."),
            200: OpenApiResponse(ExportSerializer, "This request had created it before; as it is now."),
            **WRITING,
            409: OpenApiResponse(ErrorSerializer, "`IdReused`: the id was used for something else."),
        },
    )
    def post(self, request: Request) -> Response:
        """Create an export; sent again with the same id and terms, the same export answers."""
        body = CreationBody(data=request.data)
        body.is_valid(raise_exception=True)
        wish = body.validated_data
        destination = self._destination(wish["destination_id"])
        return self._answer(
            create_export(destination.tenant, destination.id, self.actor, wish.get("id"), using=ExportJob.objects.db)
        )

    def _destination(self, destination_id: UUID) -> Destination:
        """Find the destination, which decides the tenant; nobody's and somebody else's are missing alike."""
        rows = Destination.objects.select_related("tenant").filter(id=destination_id)
        destination = self.reach.narrow(rows).first()
        if destination is None:
            raise NotFound
        return destination

    def _answer(self, creation: Creation) -> Response:
        match creation:
            case Created(job):
                headers = {"Location": reverse("api:export", args=[job.id], request=self.request)}
                return Response(represent(job), status=status.HTTP_201_CREATED, headers=headers)
            case Repeated(job):
                return Response(represent(job))
            case IdReused():
                return refuse(409, "IdReused", "This id was used for something else. Nothing was done.")
            case NoSuchDestination():
                raise NotFound
            case Unsettled(job_id):
                return unsettled(job_id)
            case _:
                assert_never(creation)


class ExportDetail(ClientView):
    """One export."""

    @operation("read_export", parameters=(JOB_ID,), responses={200: ExportSerializer, **READING})
    def get(self, request: Request, job_id: str) -> Response:  # noqa: ARG002 - the framework's signature
        """Read one export, with what a cancel now would most likely find."""
        return Response(represent(self.find_job(job_id)))
