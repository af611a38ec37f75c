"""Clicks on cancel, as the web process makes them."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exports.actions.request_cancellation import CancellationAnswer, Click, Recorded, request_cancellation

if TYPE_CHECKING:
    from exports.models import CancellationRequest, ExportJob
    from exports.states import CancellationOutcome


def a_click(job: ExportJob, **values: Any) -> Click:
    click = Click(
        tenant_id=job.tenant_id,
        job_id=job.id,
        request_id=uuid.uuid4(),
        requested_by="user:ann",
        reason="wrong list",
    )
    return replace(click, **values)


def submit(click: Click) -> CancellationAnswer:
    return request_cancellation(click, using="api")


def recorded(answer: CancellationAnswer) -> CancellationRequest:
    """Return the record of an answer that must have one."""
    assert isinstance(answer, Recorded), answer
    return answer.request


def record_of(click: Click, outcome: CancellationOutcome, found: ExportJob) -> dict[str, Any]:
    """Return the parameters with which a session of one's own records a click."""
    return {
        "tenant_id": click.tenant_id,
        "request_id": click.request_id,
        "job_id": click.job_id,
        "requested_by": click.requested_by,
        "reason": click.reason,
        "outcome": outcome.value,
        "found_status": found.status,
        "found_attempt_id": found.attempt_id,
        "found_attempt_count": found.attempt_count,
        "found_delivery_authorized_at": found.delivery_authorized_at,
    }
