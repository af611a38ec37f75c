"""The facts on top of a job's page: can it still be stopped, did it leave, what is certain, what happens next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from django.utils.html import conditional_escape, format_html

from exports.actions.request_cancellation import decide
from exports.admin.evidence_words import say
from exports.admin.formats import Moment, ago, code, size
from exports.admin.words import Known, Words, words_of
from exports.states import CancellationOutcome, Status

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from django.utils.safestring import SafeString

    from exports.models import AttemptProgress, ExportJob
    from exports.queries.history import History
    from exports.queries.holds import Held


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page says before its timeline; `certain` are pairs of a label and a value."""

    words: Words
    stoppable: str
    left: str
    next: str
    certain: list[tuple[str, SafeString]]


STOPPABLE: Mapping[CancellationOutcome, str] = {
    CancellationOutcome.CANCELED_WHILE_QUEUED: (
        "Yes. It has not started: a cancel now would most likely cancel it before anything is sent."
    ),
    CancellationOutcome.STOP_REQUESTED: (
        "Perhaps. It has started: a cancel now would ask it to stop, and it stops unless delivery is authorized first."
    ),
    CancellationOutcome.STOP_ALREADY_REQUESTED: (
        "It has already been asked to stop; it stops unless delivery is authorized first."
    ),
    CancellationOutcome.ALREADY_CANCELED: "It has been cancelled.",
    CancellationOutcome.ALREADY_ENDED: "It has ended.",
    CancellationOutcome.TOO_LATE: "No. Delivery has been authorized; a cancel now would be too late.",
}


def facts_of(history: History, held: Held | None, now: datetime) -> Facts:
    """Return what is known of an export at this moment."""
    job = history.job
    status = Status(job.status)
    last = history.last_evidence
    known = Known(held, history.stop, history.reasons, history.proof, say(last) if last else "")
    return Facts(
        words=words_of(job, known),
        stoppable=STOPPABLE[decide(status, stop_requested=job.stop_request_id is not None)],
        left=_left(status, job),
        next=_next(status, job, held, now),
        certain=[(label, conditional_escape(value)) for label, value in _certain(history, now)],
    )


def _left(status: Status, job: ExportJob) -> str:
    """Say whether anything of it may be outside this building."""
    match status:
        case Status.QUEUED | Status.RUNNING | Status.CANCELED | Status.STOPPED | Status.REJECTED:
            return "No. Delivery has not been authorized; nothing has been sent."
        case Status.DELIVERING:
            return "It may be leaving right now."
        case Status.COMPLETED:
            return "Yes."
        case Status.OUTCOME_UNKNOWN:
            return "Not known."
        case Status.FAILED:
            if job.delivery_authorized_at is None:
                return "No. Delivery has not been authorized; nothing has been sent."
            return "Nothing of it stands under the final name. A temporary file may have reached the partner."
        case _:
            assert_never(status)


def _next(status: Status, job: ExportJob, held: Held | None, now: datetime) -> str:
    """Say what happens by itself, and when."""
    match status:
        case Status.QUEUED if held is not None:
            until = f" It ends by itself {Moment(held.until, now).relative}." if held.until else ""
            return f"Nothing until the hold ends.{until}"
        case Status.QUEUED:
            return f"A worker takes it. Last woken {Moment(job.woken_at, now).relative}."
        case Status.RUNNING | Status.DELIVERING:
            return _lease(job, now)
        case Status.OUTCOME_UNKNOWN:
            return "Nothing. It waits for a person."
        case Status.COMPLETED | Status.CANCELED | Status.STOPPED | Status.REJECTED | Status.FAILED:
            return "Nothing. It has ended."
        case _:
            assert_never(status)


def _lease(job: ExportJob, now: datetime) -> str:
    if job.lease_expires_at is None or job.lease_expires_at <= now:
        return "Its worker has gone quiet; recovery may take it over at any moment."
    ends = Moment(job.lease_expires_at, now).relative
    return f"Its worker goes on. If it goes quiet, recovery takes over {ends}."


def _certain(history: History, now: datetime) -> list[tuple[str, Any]]:
    job = history.job
    facts: list[tuple[str, Any]] = [
        ("Tenant", job.tenant.name),
        ("Destination", job.destination.name),
        ("Version of the terms", job.version),
        ("Delivery key", code(job.delivery_key)),
        ("Created", ago(job.created_at, now)),
        ("Created by", job.created_by),
        ("Attempts", job.attempt_count),
    ]
    if job.claimed_by and job.lease_expires_at:
        facts.append(("Worker", job.claimed_by))
    if job.delivery_authorized_at is not None:
        facts += _expected(history, job.delivery_authorized_at, now)
    if history.progress is not None and job.lease_expires_at:
        facts.append(("Progress", _progress(history.progress, now)))
    if job.sweep_count:
        facts.append(("Woken by the sweeper", f"{job.sweep_count} times"))
    return facts + _replacement(job)


def _expected(history: History, authorized_at: datetime, now: datetime) -> list[tuple[str, Any]]:
    """Tell the file that cutoff 2 recorded: what should be at the partner, byte for byte."""
    job = history.job
    sha256 = bytes(job.expected_file_sha256 or b"").hex()
    return [
        ("Delivery authorized", ago(authorized_at, now)),
        ("Final name", code(job.expected_file_name)),
        ("Contacts in the file", f"{history.file.rows:,}" if history.file else "not recorded"),
        ("File size", size(job.expected_file_bytes or 0)),
        ("File SHA-256", code(sha256)),
    ]


def _progress(progress: AttemptProgress, now: datetime) -> SafeString:
    """Tell how far the attempt is, as its worker counts: how much, of how much, how fast, and when it last moved."""
    done, total, seconds = progress.bytes_done or 0, progress.bytes_total, progress.phase_seconds
    rows = "" if progress.rows_done is None else f", {progress.rows_done:,} contacts"
    of = "" if total is None else f" of {size(total)}"
    rate = f", {size(round(done / seconds), exact=False)} a second" if done and seconds > 0 else ""
    bar = format_html('<progress max="{}" value="{}"></progress> ', total, done) if total else ""
    words = f"{progress.phase.capitalize()}{rows}, {size(done)}{of}{rate}; last moved"
    return format_html("{}{} {}", bar, words, ago(progress.updated_at, now))


def _replacement(job: ExportJob) -> list[tuple[str, Any]]:
    if job.replaces_job_id is None:
        return []
    return [
        ("Reason for replacing", job.replacement_reason),
        ("Agreement to overwrite", job.overwrite_agreement_ref or "none; it never overwrites"),
    ]
