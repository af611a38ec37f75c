"""Why queued exports wait: the list of holds, and the ways from a page to pausing and resuming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import admin
from django.urls import path, reverse
from django.utils.html import format_html

from exports.admin.base import ConsoleAdmin, reach
from exports.admin.ending import end_view
from exports.admin.filters import OpenFilter
from exports.admin.formats import ago
from exports.admin.hold_words import CAUSES, ENDING, may_end, named
from exports.admin.pausing import freeze_view, pause_view
from exports.models import Hold
from exports.queries.holds import within
from exports.queries.keyset import Keyset
from exports.states import HoldCause

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.urls import URLPattern
    from django.utils.safestring import SafeString


class HoldAdmin(ConsoleAdmin):
    """Holds, the latest first; each with the way to end it, for whoever may."""

    keyset = Keyset(("created_at", "id"))
    list_display = ("what", "reason", "cause_in_words", "opened", "ended")
    list_filter = (OpenFilter,)
    list_select_related = ("tenant", "destination")
    fields = ("what", "reason", "cause_in_words", "opened", "until", "ended", "ended_reason")
    change_form_template = "admin/exports/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        """Return pausing, freezing and ending before the pages of single holds."""
        view = self.admin_site.admin_view
        own = [
            path("pause/", view(pause_view), name="exports_hold_pause"),
            path("freeze/", view(freeze_view), name="exports_hold_freeze"),
            path("<uuid:hold_id>/end/", view(end_view), name="exports_hold_end"),
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the holds on tenants within reach, and those on everything, which hold everybody's exports."""
        return within(admin.ModelAdmin.get_queryset(self, request), reach(request))

    def list_ways(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return the freeze, for whoever may open a hold, unless everything is frozen: every page says that already."""
        frozen = Hold.objects.filter(cause=HoldCause.FROZEN, ended_at=None)
        may = request.user.has_perm("exports.add_hold") and not frozen.exists()
        return [("Freeze everything…", reverse("admin:exports_hold_freeze"))] if may else []

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return the way to end it."""
        return ending_of(request, [obj])

    def prepare(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        """Give each hold of a page the way to end it, which is this person's own."""
        for row in rows:
            row.ending = ending_of(request, [row])
        return rows

    @admin.display(description="holds")
    def what(self, hold: Hold) -> str:
        """Show what it holds."""
        return named(hold)

    @admin.display(description="because")
    def cause_in_words(self, hold: Hold) -> str:
        """Show what kind of hold it is."""
        return CAUSES[HoldCause(hold.cause)]

    @admin.display(description="since")
    def opened(self, hold: Hold) -> SafeString:
        """Show since when it holds, and by whom."""
        return format_html('{}<span class="under">by {}</span>', ago(hold.created_at), hold.created_by)

    @admin.display(description="ended")
    def ended(self, hold: Any) -> SafeString | str:
        """Show when it ended, or the way to end it."""
        if hold.ended_at is not None:
            return format_html('{}<span class="under">by {}</span>', ago(hold.ended_at), hold.ended_by)
        ways = getattr(hold, "ending", [])
        return format_html('no <a class="under" href="{1}">{0}</a>', *ways[0]) if ways else "no"


def ending_of(request: HttpRequest, holds: Iterable[Hold]) -> list[tuple[str, str]]:
    """Return the ways to end these holds, for whoever may."""
    mine = [hold for hold in holds if may_end(request, hold)]
    return [(f"{ENDING[HoldCause(hold.cause)]}…", reverse("admin:exports_hold_end", args=[hold.id])) for hold in mine]


def ways_of(request: HttpRequest, *, tenant_id: UUID, destination_id: UUID | None) -> list[tuple[str, str]]:
    """Return resuming a destination or tenant that is held, or pausing one that is not paused, for whoever may."""
    scope: dict[str, Any] = {"destination_id": destination_id}
    if destination_id is None:
        scope["tenant_id"] = tenant_id
    holds = Hold.objects.filter(**scope, job_id=None, ended_at=None).select_related("tenant", "destination")
    found = list(holds.order_by("created_at"))
    ways = ending_of(request, found)
    if request.user.has_perm("exports.add_hold") and not any(hold.cause == HoldCause.PAUSED for hold in found):
        named_by = {"tenant": tenant_id} if destination_id is None else {"destination": destination_id}
        ways.append(("Pause…", f"{reverse('admin:exports_hold_pause')}?{urlencode(named_by)}"))
    return ways
