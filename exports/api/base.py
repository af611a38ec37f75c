"""What every view of the API shares: who calls, what they may see, and how an export is found."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from rest_framework.exceptions import NotFound
from rest_framework.permissions import BasePermission
from rest_framework.views import APIView

from exports.access import Reach, actor_name, reach_of
from exports.api.auth import ClientTokenAuthentication
from exports.api.parsers import BoundedJSONParser
from exports.api.throttles import ClientThrottle
from exports.queries import jobs

if TYPE_CHECKING:
    from rest_framework.request import Request

    from exports.models import ExportJob

VIEW = "exports.view_exportjob"
CREATE = "exports.add_exportjob"
CANCEL = "exports.cancel_exportjob"
CHANGE_TERMS = "exports.change_terms_exportjob"


class VerbPermission(BasePermission):
    """A signed-in client whose user holds the permission that the view names for the method."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Tell whether this method of this view is allowed; methods without a verb are answered 405 later."""
        verb = getattr(view, "verbs", {}).get(request.method)
        return bool(request.user.is_authenticated) and (verb is None or request.user.has_perm(verb))


class ClientView(APIView):
    """A view for client systems; `verbs` names the permission that each method needs."""

    verbs: ClassVar[dict[str, str]] = {"GET": VIEW}
    authentication_classes = (ClientTokenAuthentication,)
    permission_classes = (VerbPermission,)
    parser_classes = (BoundedJSONParser,)
    throttle_classes = (ClientThrottle,)

    @cached_property
    def reach(self) -> Reach:
        """The tenants this client may see."""
        return reach_of(self.request.user)

    @cached_property
    def actor(self) -> str:
        """The name under which this client's acts are kept."""
        return actor_name(self.request.user)

    def find_job(self, job_id: str) -> ExportJob:
        """Return the export of this id; raise NotFound for a malformed, missing or foreign one alike."""
        job = jobs.find(self.reach, jobs.as_uuid(job_id), actor=self.actor)
        if job is None:
            raise NotFound
        return job
