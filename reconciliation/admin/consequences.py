"""What a decision sets free and what it blocks, from what the rows show now; nothing is locked while it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html

from exports.admin.frame import job_url
from exports.states import FailureReason, Status

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from exports.models import ExportJob
    from reconciliation.admin.docket import Docket

COMPLETED_ORIGINAL = "Nobody can send this export again any more."
FAILED_ORIGINAL = "It may be sent again: an approver can create a replacement."
COMPLETED_REPLACEMENT = "It keeps its original's one place: no other replacement of that can be created."
FAILED_REPLACEMENT = "Its original's place is free: an approver can create another replacement."
ORIGINAL_DELIVERED = "Its original's place stays taken: what it was to deliver had been delivered."
ONCE = "It is recorded once for this attempt, with your name, and cannot be taken back by the same step."

REFUSED = {
    Status.QUEUED: "waits now. It will be refused before its delivery is authorized (cutoff 2): it sends nothing.",
    Status.RUNNING: (
        "is being prepared now. It will be refused before its delivery is authorized (cutoff 2): it sends nothing."
    ),
    Status.DELIVERING: "is being delivered right now and cannot be stopped: the partner may get the file twice.",
    Status.COMPLETED: "is recorded as delivered as well: the partner has the file twice.",
    Status.OUTCOME_UNKNOWN: "may have been delivered too: its outcome is not known.",
}
"""What becomes of an original's replacement once the original is recorded as delivered."""


def consequences(docket: Docket, to: Status, reason: FailureReason | None = None) -> list[str]:
    """Return what recording this status would set free or block."""
    return [*_of_itself(docket.job, to, reason), *_of_others(docket, to), ONCE]


def _of_itself(job: ExportJob, to: Status, reason: FailureReason | None) -> list[str]:
    if job.replaces_job_id is None:
        return [COMPLETED_ORIGINAL if to is Status.COMPLETED else FAILED_ORIGINAL]
    if to is Status.COMPLETED:
        return [COMPLETED_REPLACEMENT]
    return [ORIGINAL_DELIVERED if reason is FailureReason.ORIGINAL_DELIVERED else FAILED_REPLACEMENT]


def _of_others(docket: Docket, to: Status) -> list[str]:
    if docket.job.replaces_job_id is not None or to is not Status.COMPLETED:
        return []
    return [_becomes(other) for other in docket.family if Status(other.status) in REFUSED]


def _becomes(other: ExportJob) -> SafeString:
    words = REFUSED[Status(other.status)]
    return format_html('The replacement <a class="id" href="{}">{}</a> {}', job_url(other.id), other.id, words)
