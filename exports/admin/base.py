"""What every page over this app's tables shares: read-only, narrowed to the person's tenants, never counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.admin import ShowFacets
from django.http import Http404

from exports.access import Reach, reach_of
from exports.admin.changelist import KeysetChangeList

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest, HttpResponse

    from exports.queries.keyset import Keyset

    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin  # generic to the type checker only

_REACH = "_exports_reach"


def reach(request: HttpRequest) -> Reach:
    """Return the reach of the person behind a request, read once for it."""
    found = getattr(request, _REACH, None)
    if not isinstance(found, Reach):
        found = reach_of(request.user)
        setattr(request, _REACH, found)
    return found


class ConsoleAdmin(_ModelAdmin):
    """A list and a page of records that nobody edits here.

    `keyset` is the order of the list, `tenant_path` leads from a row to its tenant's id, `filters` names the
    parameters a list may be filtered by: no other column can be reached from the URL.
    """

    keyset: ClassVar[Keyset]
    tenant_path: ClassVar[str] = "tenant_id"

    actions = None
    list_per_page = 50
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:  # noqa: ARG002 - the framework's signature
        """Return the list that pages by position."""
        return KeysetChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return what this person may see; everything else looks missing, on every page."""
        return reach(request).narrow(super().get_queryset(request), self.tenant_path)

    def prepare(self, request: HttpRequest, rows: list[Any]) -> list[Any]:  # noqa: ARG002 - for the lists that need it
        """Give the rows of a page what their columns show, in a fixed number of queries."""
        return rows

    def list_ways(self, request: HttpRequest) -> list[tuple[str, str]]:  # noqa: ARG002 - for the lists that have some
        """Return what can be done from this list: names and addresses."""
        return []

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - for the records that have some
        """Return what this person can do with a record: names and addresses."""
        return []

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, with what can be done from it."""
        return super().changelist_view(request, {**(extra_context or {}), "ways": self.list_ways(request)})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *rest: Any, **named: Any
    ) -> HttpResponse:
        """Show a record, with what can be done with it."""
        context["ways"] = self.ways(request, named.get("obj"))
        return super().render_change_form(request, context, *rest, **named)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:  # noqa: ARG002 - the framework's signature
        """Allow the declared filters and no other column."""
        return lookup in {getattr(declared, "parameter_name", None) for declared in self.list_filter}

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - the framework's signature
        """Refuse: records come from what happens, not from a form."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - the framework's signature
        """Refuse: records are not edited; the verbs have screens of their own."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - the framework's signature
        """Refuse: records are not deleted."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - the framework's signature
        """Tell whether this person may see this kind of record; which of them is get_queryset's business."""
        return request.user.has_perm(f"{self.opts.app_label}.view_{self.opts.model_name}")

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:  # noqa: ARG002 - the framework's signature
        """Answer 404 for a missing and for another tenant's object alike, instead of a redirect with a message."""
        raise Http404
