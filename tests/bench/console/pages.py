"""Which pages are measured: every list with each of its filters and searches, and every page behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils import timezone

from exports.admin.filters import AgeFilter
from exports.models import (
    CancellationRequest,
    Destination,
    ExportAttemptEvent,
    ExportJob,
    Hold,
    OutboxMessage,
    Tenant,
)
from exports.queries.sums import HOUR, Counted, hours_until
from exports.states import EventKind, Happened, Status

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Page:
    """One page to open; with `form`, what is sent to it first, whose answer leads to the page."""

    name: str
    path: str
    form: dict[str, Any] | None = None


LIST = "/admin/exports/exportjob/"


def pages_of(tenant: Tenant) -> list[Page]:
    """Return the pages, about this tenant's exports where they are about some."""
    return [
        Page("overview", "/admin/"),
        *_lists(tenant),
        *_searches(tenant),
        *_exports(tenant),
        *_others(),
        Page("bulk preview of 5,000", f"{LIST}cancel-many/?status=Queued", {"matching": "yes"}),
        Page("bulk preview of all", f"{LIST}cancel-many/", {"matching": "yes"}),
    ]


def _lists(tenant: Tenant) -> Iterator[Page]:
    yield Page("list", LIST)
    for status in Status:
        yield Page(f"list: {status}", f"{LIST}?status={status}")
    for name in ("crm", "olga", "rare", "gone", "nobody"):
        yield Page(f"list: created by {name}", f"{LIST}?created_by={name}")
    for age in (*AgeFilter.AGES, AgeFilter.OLDER):
        yield Page(f"list: age {age}", f"{LIST}?age={age}")
    destination = Destination.objects.filter(tenant=tenant).order_by("name")[0]
    yield Page("list: a destination", f"{LIST}?destination={destination.id}")
    yield Page("list: a destination, Failed", f"{LIST}?destination={destination.id}&status=Failed")
    yield Page("list: its tenant", f"{LIST}?tenant={tenant.slug}")
    yield Page("list: its tenant, Failed", f"{LIST}?tenant={tenant.slug}&status=Failed")
    yield Page("list: needs attention", f"{LIST}?attention=yes")
    yield Page("list: Failed within a day", f"{LIST}?status=Failed&age=day")
    hours = hours_until(timezone.now())
    for what in Happened:
        yield Page(f"list: counted, {what}", f"{LIST}?counted={Counted(what, hours[0], hours[-1] + HOUR).text}")


def _searches(tenant: Tenant) -> Iterator[Page]:
    job = ExportJob.objects.filter(tenant=tenant).order_by("created_at").first()
    click = CancellationRequest.objects.order_by("recorded_at").first()
    message = OutboxMessage.objects.filter(job_id=job.id).first() if job else None
    assert job is not None and click is not None and message is not None  # noqa: PT018 - the data set has them
    pasted = {
        "id": job.id,
        "key": job.delivery_key,
        "final name": f"contacts-{job.delivery_key}.csv",
        "cancellation's id": click.id,
        "wake-up's id": message.message_id,
        "what does not exist": "contacts-no-such-key.csv",
    }
    for name, text in pasted.items():
        yield Page(f"search: {name}", f"{LIST}?q={text}")


def _exports(tenant: Tenant) -> Iterator[Page]:
    for status in (Status.COMPLETED, Status.RUNNING, Status.QUEUED, Status.OUTCOME_UNKNOWN):
        job = ExportJob.objects.filter(tenant=tenant, status=status).order_by("-created_at").first()
        if job is not None:
            yield Page(f"export: {status}", reverse("admin:exports_exportjob_change", args=[job.id]))
            yield Page(f"cancel: {status}", reverse("admin:exports_exportjob_cancel", args=[job.id]))


def _others() -> Iterator[Page]:
    yield Page("worklist", "/admin/worklist/")
    yield Page("holds", "/admin/exports/hold/")
    yield Page("holds: open", "/admin/exports/hold/?state=open")
    yield Page("cancellation requests", "/admin/exports/cancellationrequest/")
    yield Page("deliveries", "/admin/exports/delivery/")
    events = "/admin/exports/exportattemptevent/"
    yield Page("events", events)
    for kind in (EventKind.DELIVERY_EVIDENCE, EventKind.FAILED, EventKind.CORRECTED):
        yield Page(f"events: {kind}", f"{events}?kind={kind}")
    event = ExportAttemptEvent.objects.order_by("-id").first()
    assert event is not None
    yield Page("events of an export", f"{events}?q={event.job_id}")
    yield Page("event", f"{events}{event.id}/change/")
    yield Page("wake-ups", "/admin/exports/outboxmessage/")
    yield Page("wake-ups of an export", f"/admin/exports/outboxmessage/?q={event.job_id}")
    hold = Hold.objects.order_by("created_at").first()
    assert hold is not None
    yield Page("hold", f"/admin/exports/hold/{hold.id}/change/")
    for name in ("destination", "destinationcontract", "tenant", "client", "membership"):
        yield Page(f"{name}s", f"/admin/exports/{name}/")
