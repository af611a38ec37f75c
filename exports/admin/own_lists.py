"""Lists of what has a key of several columns, which the framework's lists refuse: clicks on cancel, and deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_safe

from exports.admin.base import reach
from exports.admin.changelist import CURSOR_VAR
from exports.admin.formats import ago, code
from exports.admin.frame import page
from exports.admin.records import job_link
from exports.admin.timeline import clicked
from exports.models import CancellationRequest, Delivery
from exports.queries.keyset import BadCursor, Keyset
from exports.states import CancellationOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

SIZE = 50
"""Rows of a page, as on the other lists."""


@dataclass(frozen=True, slots=True)
class OwnList:
    """One list: its title and permission, what it shows in which order, its columns, and a row's cells."""

    title: str
    permission: str
    rows: Callable[[], QuerySet[Any]]
    keyset: Keyset
    columns: tuple[str, ...]
    cells: Callable[[Any], tuple[Any, ...]]


def _click(click: CancellationRequest) -> tuple[Any, ...]:
    outcome = clicked(CancellationOutcome(click.outcome)).capitalize()
    return (ago(click.recorded_at), job_link(click.job_id), outcome, click.requested_by, click.reason or "—")


def _delivery(delivery: Any) -> tuple[Any, ...]:
    return (code(delivery.delivery_key), job_link(delivery.original_job_id), delivery.tenant.name)


CLICKS = OwnList(
    title="Cancellation requests",
    permission="exports.view_cancellationrequest",
    rows=CancellationRequest.objects.all,
    keyset=Keyset(("recorded_at", "id")),
    columns=("Clicked", "Export", "What it came to", "By", "Why"),
    cells=_click,
)
DELIVERIES = OwnList(
    title="Deliveries",
    permission="exports.view_delivery",
    rows=lambda: Delivery.objects.select_related("tenant"),
    keyset=Keyset(("tenant_id", "delivery_key"), descending=False),
    columns=("Delivery key", "Original export", "Tenant"),
    cells=_delivery,
)
OWN_LISTS = {"cancellationrequest": CLICKS, "delivery": DELIVERIES}
"""By the last part of each list's address."""


@require_safe
def list_view(request: HttpRequest, *, shown: OwnList) -> HttpResponseBase:
    """Show one page of a list within reach; a position that is none leads to the first page."""
    if not request.user.has_perm(shown.permission):
        raise PermissionDenied
    try:
        found = shown.keyset.page(reach(request).narrow(shown.rows()), SIZE, request.GET.get(CURSOR_VAR))
    except BadCursor:
        return HttpResponseRedirect(request.path)
    context: dict[str, Any] = {
        "columns": shown.columns,
        "lines": [list(zip(shown.columns, shown.cells(row), strict=True)) for row in found.rows],
        "newer": found.preceding and f"?{urlencode({CURSOR_VAR: found.preceding})}",
        "older": found.following and f"?{urlencode({CURSOR_VAR: found.following})}",
    }
    return page(request, "admin/exports/own_list.html", shown.title, [], **context)
