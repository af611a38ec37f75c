"""The page of a destination, one place for all that is done about it, and the pages of its contract's versions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join

from exports.admin.agreed.changes import fingerprint_of
from exports.admin.agreed.creating import change_view, new_view
from exports.admin.agreed.credential import credential_view
from exports.admin.agreed.deciding import confirm_view, decline_view
from exports.admin.agreed.finding import contract_url, destination_url
from exports.admin.agreed.testing import probe_view
from exports.admin.agreed.writing import contract_view
from exports.admin.base import ConsoleAdmin
from exports.admin.filters import TenantFilter
from exports.admin.formats import ago
from exports.admin.holds import ways_of
from exports.models import Destination, Hold
from exports.probing import State, latest
from exports.queries.agreed import SHOWN_VERSIONS, decision_on, latest_secret_id, standing_of
from exports.queries.keyset import Keyset
from exports.states import Decision, HoldCause

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from exports.models import DestinationContract
    from exports.queries.agreed import Standing

NONE = "none; exports wait"


class DestinationAdmin(ConsoleAdmin):
    """Where exports go."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("name", "id"), descending=False)
    list_display = ("name", "tenant", "is_enabled", "contract")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant", "active_contract")
    fields = (
        "name",
        "tenant",
        "is_enabled",
        "contract",
        "waiting",
        "pinned",
        "versions",
        "credential",
        "tested",
        "held",
    )

    def get_urls(self) -> list[URLPattern]:
        """Return the screens of a destination before its page."""
        view = self.admin_site.admin_view
        screens = {
            "contract": contract_view,
            "credential": credential_view,
            "probe": probe_view,
            "settings": change_view,
        }
        own = [
            path(f"<uuid:destination_id>/{name}/", view(screen), name=f"exports_destination_{name}")
            for name, screen in screens.items()
        ]
        return [path("new/", view(new_view), name="exports_destination_new"), *own, *super().get_urls()]

    def list_ways(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return creating one, for whoever may."""
        may = request.user.has_perm("exports.add_destination")
        return [("Create a destination…", reverse("admin:exports_destination_new"))] if may else []

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return everything that this person can do about it, holds and the freeze among it."""
        standing = standing_of(obj, Destination.objects.db)
        own = [
            (label, destination_url(obj.id, screen))
            for label, screen, right in _screens(standing, latest_secret_id(obj.id, Destination.objects.db))
            if request.user.has_perm(right)
        ]
        holds = ways_of(request, tenant_id=obj.tenant_id, destination_id=obj.id)
        return [*_deciding(request, standing), *own, *holds, *_freezing(request)]

    @admin.display(description="contract in force")
    def contract(self, destination: Any) -> SafeString | str:
        """Show the version in force; without one, exports wait."""
        contract = destination.active_contract
        return NONE if contract is None else _version(contract)

    @admin.display(description="waits for a second person")
    def waiting(self, destination: Any) -> SafeString | str:
        """Show the version that nobody has decided about."""
        pending = standing_of(destination, Destination.objects.db).pending
        return (
            "nothing"
            if pending is None
            else format_html("{}, by {}: {}", _version(pending), pending.created_by, pending.reason)
        )

    @admin.display(description="pinned host keys")
    def pinned(self, destination: Any) -> SafeString | str:
        """Show the fingerprints that the contract in force pins."""
        contract = destination.active_contract
        keys = [] if contract is None else contract.terms.get("host_keys", [])
        return (
            format_html_join("", '<div class="id">{}</div>', ((fingerprint_of(key["key"]),) for key in keys)) or "none"
        )

    @admin.display(description="versions")
    def versions(self, destination: Any) -> SafeString | str:
        """Show what was agreed when, and who decided about it."""
        found = standing_of(destination, Destination.objects.db).versions[:SHOWN_VERSIONS]
        rows = ((_version(each), each.created_by, ago(each.created_at), decided(each)) for each in found)
        return format_html_join("", '<div class="under">{}, written by {} {}; {}</div>', rows) or "none"

    @admin.display(description="credential")
    def credential(self, destination: Any) -> str:
        """Tell whether one is stored; what it is, nobody can read here."""
        return "stored" if latest_secret_id(destination.id, Destination.objects.db) else "none stored"

    @admin.display(description="connection")
    def tested(self, destination: Any) -> SafeString | str:
        """Show when it was tested last, and how that went."""
        probe = latest(destination.id, Destination.objects.db)
        if probe is None:
            return "never tested"
        went = "" if probe.report is None else f": {probe.report.trouble or 'it got through'}"
        state = "tested" if probe.state is State.FINISHED else probe.state.value
        return format_html("{} {}{}", state, ago(probe.request.requested_at), went)

    @admin.display(description="held")
    def held(self, destination: Any) -> SafeString | str:
        """Show what keeps its exports waiting."""
        holds = Hold.objects.filter(destination=destination, job_id=None, ended_at=None).order_by("created_at")
        rows = ((hold.reason, ago(hold.created_at), hold.created_by) for hold in holds)
        return format_html_join("", "<div>{} (since {}, by {})</div>", rows) or "no"


def _screens(standing: Standing, secret_id: str) -> tuple[tuple[str, str, str], ...]:
    """Return what each screen is called here, its name, and the right that it takes."""
    return (
        ("Change its contract…" if standing.base else "Write its contract…", "contract", _WRITE),
        ("Replace the credential…" if secret_id else "Store the credential…", "credential", _WRITE),
        ("Test the connection…", "probe", "exports.change_destination"),
        ("Rename, close or open…", "settings", "exports.change_destination"),
    )


_WRITE = "exports.add_destinationcontract"


def _deciding(request: HttpRequest, standing: Standing) -> list[tuple[str, str]]:
    pending = standing.pending
    if pending is None or not request.user.has_perm("exports.confirm_destinationcontract"):
        return []
    return [
        (f"Confirm version {pending.version}…", contract_url(pending.id, "confirm")),
        (f"Turn down version {pending.version}…", contract_url(pending.id, "decline")),
    ]


def _freezing(request: HttpRequest) -> list[tuple[str, str]]:
    frozen = Hold.objects.filter(cause=HoldCause.FROZEN, ended_at=None)
    may = request.user.has_perm("exports.add_hold") and not frozen.exists()
    return [("Freeze everything…", reverse("admin:exports_hold_freeze"))] if may else []


def _version(contract: DestinationContract) -> SafeString:
    return format_html('<a href="{}">version {}</a>', contract_url(contract.id), contract.version)


def decided(contract: DestinationContract) -> SafeString | str:
    """Return what became of a version, in words."""
    decision = decision_on(contract)
    if decision is None:
        return "not decided"
    words = "confirmed" if decision.decision == Decision.CONFIRMED else "turned down"
    alone = " (one person, as a setting allows)" if decision.is_one_person and words == "confirmed" else ""
    return format_html(
        "{} by {} {}{}: {}", words, decision.decided_by, ago(decision.decided_at), alone, decision.reason
    )


class DestinationContractAdmin(ConsoleAdmin):
    """What was agreed with a partner, version by version."""

    change_form_template = "admin/exports/change_form.html"

    keyset = Keyset(("created_at", "id"))
    tenant_path = "destination__tenant_id"
    list_display = ("destination", "version", "became", "reason", "created_by", "created")
    list_select_related = ("destination", "decision")
    fields = ("destination", "version", "became", "agreed", "reason", "created_by", "created")

    def get_urls(self) -> list[URLPattern]:
        """Return the screens of a version before its page."""
        view = self.admin_site.admin_view
        own = [
            path("<uuid:contract_id>/confirm/", view(confirm_view), name="exports_destinationcontract_confirm"),
            path("<uuid:contract_id>/decline/", view(decline_view), name="exports_destinationcontract_decline"),
        ]
        return [*own, *super().get_urls()]

    def ways(self, request: HttpRequest, obj: Any) -> list[tuple[str, str]]:
        """Return deciding about it, while there is something to decide, and its destination."""
        standing = standing_of(obj.destination, Destination.objects.db)
        mine = _deciding(request, standing) if standing.pending and standing.pending.id == obj.id else []
        return [*mine, (f"Destination {obj.destination.name}", destination_url(obj.destination_id))]

    @admin.display(description="became")
    def became(self, contract: DestinationContract) -> SafeString | str:
        """Show who decided what about it."""
        return decided(contract)

    @admin.display(description="terms")
    def agreed(self, contract: DestinationContract) -> SafeString:
        """Show the terms as they are stored; credentials are named in them by id and never shown."""
        return format_html('<pre class="raw">{}</pre>', json.dumps(contract.terms, indent=2))

    @admin.display(description="recorded")
    def created(self, contract: DestinationContract) -> SafeString:
        """Show how long ago, with the exact time."""
        return ago(contract.created_at)
