"""Test the connection: ask for a probe, and follow what a worker reports of it, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django.http import HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.request_probe import NothingToProbe, Requested, request_probe
from exports.admin.agreed.finding import destination_trail, destination_url, own_destination
from exports.admin.clicks import minted
from exports.admin.forms import ActForm, hidden_id, sent
from exports.admin.frame import Told, page, told_plain
from exports.models import Destination, ProbeRequest
from exports.probing import Outcome, State, activation_problems, latest
from exports.queries.agreed import standing_of

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.probing import Probe

FOLLOW_SECONDS = 2
"""Between two looks, by the browser itself and without a script: a step takes less, and a person waits no longer."""

STATES = {
    State.WAITING: ("grey", "It waits for a worker. One takes it within seconds."),
    State.RUNNING: ("blue", "A worker is trying the connection."),
    State.LOST: ("amber", "No worker told what came of it. Test again."),
}
MARKS = {
    Outcome.YES: ("green", "●", "as it should be"),
    Outcome.NO: ("amber", "◑", "otherwise"),
    Outcome.FAILED: ("red", "✕", "failed"),
    Outcome.SKIPPED: ("grey", "○", "not tried"),
}


class ProbeForm(ActForm):
    """Nothing to fill in: the id that makes a double click one test."""

    request_id = hidden_id()


@require_http_methods(["GET", "HEAD", "POST"])
def probe_view(request: HttpRequest, destination_id: UUID) -> HttpResponseBase:
    """Show the latest test with the button for another, or ask for one."""
    destination = own_destination(request, destination_id, "change_destination")
    probe = latest(destination.id, Destination.objects.db)
    asked = ProbeRequest.objects.filter(destination=destination).count()
    form = ProbeForm(sent(request), initial={"request_id": minted(request, "probe", f"{destination.id} {asked}")})
    if request.method == "POST" and form.is_valid():
        return _asked(request, destination, form.cleaned_data["request_id"])
    return _page(request, destination, probe, form)


def _asked(request: HttpRequest, destination: Destination, request_id: UUID) -> HttpResponseBase:
    using = Destination.objects.db
    match request_probe(destination.id, actor_name(request.user), using, request_id=request_id):
        case Requested():
            return HttpResponseRedirect(destination_url(destination.id, "probe"))
        case NothingToProbe():
            return told_plain(
                request, _title(destination), destination_trail(destination), _nothing(destination), status=409
            )
        case answer:
            assert_never(answer)


def _nothing(destination: Destination) -> Told:
    write = ("Write its contract", destination_url(destination.id, "contract"))
    return Told("grey", "There is no contract yet, so nobody knows where to connect to.", (), (write,))


def _title(destination: Destination) -> str:
    return f"Test the connection to {destination.name}"


def _page(request: HttpRequest, destination: Destination, probe: Probe | None, form: ProbeForm) -> HttpResponseBase:
    is_under_way = probe is not None and probe.state in (State.WAITING, State.RUNNING)
    shown: dict[str, Any] = {
        "form": form,
        "probe": probe,
        "latest": standing_of(destination).latest,
        "state": STATES.get(probe.state) if probe else None,
        "steps": [(step, *MARKS[step.outcome]) for step in probe.report.steps] if probe and probe.report else [],
        "is_under_way": is_under_way,
        "problems": [] if is_under_way else activation_problems(destination, Destination.objects.db),
        "back": destination_url(destination.id),
        "status": 400 if form.errors else 200,
    }
    answer = page(
        request, "admin/exports/destination/probe.html", _title(destination), destination_trail(destination), **shown
    )
    if is_under_way:
        answer["Refresh"] = str(FOLLOW_SECONDS)
    return answer
