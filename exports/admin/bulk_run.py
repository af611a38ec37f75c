"""One step of a bulk cancel: export by export, each in a transaction of its own, within a web request's time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from exports.actions.request_cancellation import Click, request_cancellation
from exports.admin.bulk_plan import keep, recorded
from exports.models import ExportJob

if TYPE_CHECKING:
    from uuid import UUID

    from exports.access import Reach
    from exports.admin.bulk_plan import Plan

STEP_JOBS = 200
"""Exports tried in one web request."""
STEP_SECONDS = 10.0
"""After so long no further export is begun: one whose row is held may take its lock timeout, and pages time out."""


def step(plan: Plan, actor: str, reach: Reach) -> None:
    """Try the next exports of a plan that are still within reach; each click has its one recorded outcome or none."""
    give_up_at = time.monotonic() + STEP_SECONDS
    batch = plan.todo[:STEP_JOBS]
    tenants = dict(reach.narrow(ExportJob.objects.filter(id__in=batch)).values_list("id", "tenant_id"))
    tried = 0
    while tried < len(batch) and (tried == 0 or time.monotonic() < give_up_at):
        job_id = batch[tried]
        if job_id in tenants:
            _click(plan, tenants[job_id], job_id, actor)
        tried += 1
    plan.todo = plan.todo[tried:]
    keep(plan)


def _click(plan: Plan, tenant_id: UUID, job_id: UUID, actor: str) -> None:
    click = Click(
        tenant_id=tenant_id,
        job_id=job_id,
        request_id=plan.request_id(job_id),
        requested_by=actor,
        reason=plan.reason or None,
    )
    # What it came to is read from the record afterwards: an answer that was lost may have been recorded all the same.
    request_cancellation(click, using=ExportJob.objects.db)


def begin(plan: Plan, reason: str) -> None:
    """Start a plan; one that has started keeps its first reason."""
    if not plan.has_started:
        plan.reason, plan.has_started = reason, True
        keep(plan)


def again(plan: Plan) -> None:
    """Let the exports that have no recorded answer be tried once more."""
    answered = {click.job_id for click in recorded(plan)}
    plan.todo = [job_id for job_id in plan.jobs if job_id not in answered]
    keep(plan)
