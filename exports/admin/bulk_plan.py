"""A bulk cancel: which exports, why, and how far it has come. Kept with the server, a day long, for one person.

The exports are chosen once, when it is planned: what matches a filter changes while it runs. Each export's request
has an id of its own that follows from the plan's, so that whatever is sent twice counts once (I9).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import Count, Q
from django.utils import timezone

from exports.actions.request_cancellation import decide
from exports.models import CancellationRequest, ExportJob
from exports.states import CancellationOutcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_JOBS = 5_000
"""Exports of one bulk cancel; a longer list is another decision."""
LIFE = timedelta(days=1)
"""How long a plan can be resumed, and its table downloaded; what it did stays in each export's history."""


@dataclass(slots=True)
class Plan:
    """`jobs` are all that were chosen, `todo` those not tried yet in this round; `click` is the plan's own id."""

    click: UUID
    user_id: int
    jobs: list[UUID]
    tenants: list[UUID]
    is_cut: bool = False
    reason: str = ""
    has_started: bool = False
    todo: list[UUID] = field(default_factory=list)

    def request_id(self, job_id: UUID) -> UUID:
        """Return the id of the request to cancel one export."""
        return uuid.uuid5(self.click, str(job_id))

    @property
    def requests(self) -> dict[UUID, UUID]:
        """The export of each request's id."""
        return {self.request_id(job_id): job_id for job_id in self.jobs}


def planned(user_id: int, chosen: Iterable[tuple[UUID, UUID]]) -> Plan:
    """Make and keep a plan for these exports (id, tenant), cut to what one plan may hold."""
    pairs = list(chosen)
    kept = pairs[:MOST_JOBS]
    jobs, tenants = [job for job, _ in kept], sorted({tenant for _, tenant in kept})
    plan = Plan(uuid.uuid4(), user_id, jobs, tenants, is_cut=len(pairs) > MOST_JOBS, todo=list(jobs))
    keep(plan)
    return plan


def keep(plan: Plan) -> None:
    """Store a plan for a day from now.

    Beside the person's own session, in a row of its own: that one is read and written whole with every page they
    open meanwhile.
    """
    kept = {
        "user_id": plan.user_id,
        "jobs": [job.hex for job in plan.jobs],
        "todo": [job.hex for job in plan.todo],
        "tenants": [tenant.hex for tenant in plan.tenants],
        "is_cut": plan.is_cut,
        "reason": plan.reason,
        "has_started": plan.has_started,
    }
    Session.objects.save(_key(plan.click), kept, timezone.now() + LIFE)


def find(click: UUID, user_id: int) -> Plan | None:
    """Return this person's plan; None when it is nobody's, somebody else's, or too old."""
    row = Session.objects.filter(session_key=_key(click), expire_date__gt=timezone.now()).first()
    kept = {} if row is None else row.get_decoded()
    if kept.get("user_id") != user_id:
        return None
    ids: dict[str, Any] = {name: [UUID(hex=each) for each in kept[name]] for name in ("jobs", "todo", "tenants")}
    return Plan(**{**kept, **ids, "click": click})


def _key(click: UUID) -> str:
    return f"bulk{click.hex}"


def expected(plan: Plan) -> dict[CancellationOutcome, int]:
    """Count what a click on each export would find if nothing changed before it came."""
    rows = ExportJob.objects.filter(id__in=plan.jobs).order_by()
    counts: dict[CancellationOutcome, int] = {}
    asked = rows.annotate(asked=Q(stop_request_id__isnull=False)).values_list("status", "asked")
    for status, stop_requested, count in asked.annotate(count=Count("id")):
        outcome = decide(Status(status), stop_requested=stop_requested)
        counts[outcome] = counts.get(outcome, 0) + count
    return counts


def recorded(plan: Plan) -> list[CancellationRequest]:
    """Return every request of the plan that has its recorded outcome."""
    clicks = CancellationRequest.objects.filter(tenant_id__in=plan.tenants, id__in=list(plan.requests))
    return list(clicks.order_by("recorded_at", "id"))
