"""The pages of client systems and of memberships: who has access to what, and what it was given for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join

from exports.actions.create_client import CODENAMES
from exports.admin.base import ConsoleAdmin
from exports.admin.clients.access import VERBS, access_view, new_view
from exports.admin.clients.finding import client_url, clients_within
from exports.admin.clients.members import add_view, remove_view
from exports.admin.clients.tokens import is_over, issue_view, revoke_view, tokens_of
from exports.admin.filters import TenantFilter
from exports.admin.formats import ago, code
from exports.admin.record import recorded
from exports.models import Membership
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.urls import URLPattern
    from django.utils.safestring import SafeString


class ClientAdmin(ConsoleAdmin):
    """Client systems that call the API for tenants within reach."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("name",), descending=False)
    list_display = ("name", "person", "is_active", "called")
    list_select_related = ("user", "person")
    fields = ("name", "person", "is_active", "called", "tenants", "may", "tokens", "history")

    def get_urls(self) -> list[URLPattern]:
        """Return the screens of a client before its page."""
        view = self.admin_site.admin_view
        own = [
            path("new/", view(new_view), name="exports_client_new"),
            path("<int:client_id>/access/", view(access_view), name="exports_client_access"),
            path("<int:client_id>/tokens/new/", view(issue_view), name="exports_client_issue"),
            path("<int:client_id>/tokens/<slug:key>/revoke/", view(revoke_view), name="exports_client_revoke"),
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the clients that act for a tenant within reach."""
        return clients_within(request, admin.ModelAdmin.get_queryset(self, request))

    def list_ways(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return creating one, for whoever may."""
        may = request.user.has_perm("exports.add_client")
        return [("Create a client system…", reverse("admin:exports_client_new"))] if may else []

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return changing it, and each of its tokens with the way to revoke it."""
        if not request.user.has_perm("exports.change_client"):
            return []
        revoking = [
            (f"Revoke token {token.token_key}…", client_url(obj.id, "revoke", token.token_key))
            for token in tokens_of(obj)
        ]
        return [
            ("Change what it may do…", client_url(obj.id, "access")),
            ("Issue a token…", client_url(obj.id, "issue")),
            *revoking,
        ]

    @admin.display(description="active", boolean=True)
    def is_active(self, client: Any) -> bool:
        """Tell whether its tokens are accepted."""
        return bool(client.user.is_active)

    @admin.display(description="last call")
    def called(self, client: Any) -> SafeString | str:
        """Show when one of its tokens was used last."""
        return ago(client.user.last_login) if client.user.last_login else "never"

    @admin.display(description="acts for")
    def tenants(self, client: Any) -> str:
        """Show its tenants."""
        members = Membership.objects.filter(user_id=client.user_id).select_related("tenant")
        return ", ".join(sorted(member.tenant.name for member in members)) or "no tenant"

    @admin.display(description="may")
    def may(self, client: Any) -> str:
        """Show its verbs."""
        held = set(client.user.user_permissions.values_list("codename", flat=True))
        return ", ".join(VERBS[verb] for verb, codename in CODENAMES.items() if codename in held) or "nothing"

    @admin.display(description="tokens")
    def tokens(self, client: Any) -> SafeString | str:
        """Show each token by the beginning that its holder knows, and when it ends."""
        rows = ((code(f"{each.token_key}…"), ago(each.created), _ending(each)) for each in tokens_of(client))
        return format_html_join("", "<div>{}, issued {}, {}</div>", rows) or "none"

    @admin.display(description="history")
    def history(self, client: Any) -> SafeString | str:
        """Show who did what to it."""
        rows = ((ago(each.action_time), each.user.get_username(), each.change_message) for each in recorded(client))
        return format_html_join("", '<div class="under">{} by {}: {}</div>', rows) or "none"


def _ending(token: Any) -> SafeString | str:
    if token.expiry is None:
        return "never ends"
    return format_html("{} {}", "ended" if is_over(token) else "ends", ago(token.expiry))


class MembershipAdmin(ConsoleAdmin):
    """Who may see which tenant."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("id",))
    list_display = ("user", "tenant")
    list_filter = (TenantFilter,)
    list_select_related = ("user", "tenant")

    def get_urls(self) -> list[URLPattern]:
        """Return adding and removing before the pages of single memberships."""
        view = self.admin_site.admin_view
        own = [
            path("new/", view(add_view), name="exports_membership_new"),
            path("<int:membership_id>/remove/", view(remove_view), name="exports_membership_remove"),
        ]
        return [*own, *super().get_urls()]

    def list_ways(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return letting somebody in, for whoever may."""
        may = request.user.has_perm("exports.add_membership")
        return [("Let somebody into a tenant…", reverse("admin:exports_membership_new"))] if may else []

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return ending it, for whoever may."""
        may = request.user.has_perm("exports.delete_membership")
        return [("End it…", reverse("admin:exports_membership_remove", args=[obj.id]))] if may else []
