"""Deliveries that wait for their acknowledgment, at a partner whose directory a test can write to."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connections

from exports.contracts import Acknowledgment, AcknowledgmentKind, Companion, Permissions, Verification
from exports.evidence import (
    Absent,
    Accepted,
    Acknowledged,
    Baseline,
    CompanionAnswered,
    NoReply,
    Present,
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    Trouble,
    decode,
)
from exports.models import ExportAttemptEvent, ExportJob
from exports.states import Authorization, EventKind, Status, Written
from reconciliation.acknowledgments.collecting import Collected, Collector
from tests.recovery import lives
from tests.recovery.lives import CONTENT, Place

if TYPE_CHECKING:
    from uuid import UUID

    from config.devstack.partner import PartnerAccount
    from exports.evidence import Evidence

LEFT = AcknowledgmentKind.FILE_APPEARS
MOVED = AcknowledgmentKind.FILE_RENAMED
TAKEN = AcknowledgmentKind.MARKER_DISAPPEARS
MARKER = ".ready"
HASH = hashlib.sha256(CONTENT).hexdigest()


@dataclass(frozen=True)
class At:
    """The partner's account, and the key its credential is sealed under."""

    account: PartnerAccount
    key: str

    def place(self, kind: AcknowledgmentKind = LEFT, **told: Any) -> Place:
        """Make a destination that acknowledges; by default automatically, by `NAME.ack` and `NAME.nak`."""
        contract = told.pop("contract", {})
        terms: dict[str, Any] = {
            "suffix": MARKER if kind is TAKEN else ".ack",
            "negative_suffix": ".nak",
            "completes_automatically": True,
        }
        acknowledgment = Acknowledgment(kind=kind, **terms | told)
        groups: dict[str, Any] = {
            "permissions": Permissions(may_read=True),
            "verification": Verification(acknowledgment=acknowledgment),
            "companions": (Companion(MARKER),) if kind is TAKEN else (),
        }
        return lives.a_place(self.account, sealed_under=self.key, **groups | contract)

    def write(self, name: str, content: bytes = b"") -> None:
        (self.account.directory / name).write_bytes(content)

    def remove(self, name: str) -> None:
        (self.account.directory / name).unlink()

    def rename(self, name: str, to: str) -> None:
        (self.account.directory / name).rename(self.account.directory / to)


def sent(job: ExportJob) -> tuple[Evidence, ...]:
    """Return what an attempt appends that published and got no answer."""
    name = str(job.expected_file_name)
    return (
        Baseline(Absent()),
        PublishSent(PublishForm.LINK, f".{name}.tmp", name),
        PublishAnswered(NoReply(Trouble.CONNECTION_LOST)),
    )


def unknown(place: Place, *more: Evidence, **file: Any) -> ExportJob:
    """Return an export whose worker published and never heard what came of it."""
    job = lives.delivering(place, **file)
    lives.append(job, *sent(job), *more)
    return finish(job, Status.OUTCOME_UNKNOWN)


def unannounced(place: Place) -> ExportJob:
    """Return an export whose marker stood at the partner, and whose worker lost a later companion."""
    job = lives.delivering(place)
    name = str(job.expected_file_name)
    lives.append(job, *sent(job)[:2], PublishAnswered(Accepted()), ReadBack(Present(len(CONTENT))))
    lives.append(job, CompanionAnswered(name + MARKER, Accepted()))
    return finish(job, Status.OUTCOME_UNKNOWN)


def completed(place: Place, *, sha256: str | None = None) -> ExportJob:
    """Return an export that completed on a listing, or on a hash."""
    job = lives.delivering(place)
    lives.append(job, *sent(job)[:2], PublishAnswered(Accepted()), ReadBack(Present(len(CONTENT), sha256)))
    return finish(job, Status.COMPLETED)


def finish(job: ExportJob, outcome: Status) -> ExportJob:
    written = ExportJob.objects.db_manager("worker").finish_delivery(
        job_id=job.id,
        attempt_id=lives.attempt_of(job),
        worker_id="worker:test",
        outcome=outcome,
        reason=None,
        detail=f"{outcome}: test",
    )
    assert written is Written.APPLIED
    return lives.now(job.id)


def replaced(original: ExportJob, place: Place, sha256: bytes = b"r" * 32, size: int = 99) -> ExportJob:
    """Return a replacement that published and never heard what came of it."""
    job_id = uuid.uuid4()
    ExportJob.objects.db_manager("api").create_replacement(
        job_id=job_id,
        tenant_id=original.tenant_id,
        original_job_id=original.id,
        created_by="user:ruth",
        replacement_reason="the partner never saw it",
        overwrite_agreement_ref=None,
    )
    lives.claim(lives.now(job_id), place)
    assert lives.authorize(lives.now(job_id), place, sha256=sha256, size=size) is Authorization.AUTHORIZED
    job = lives.now(job_id)
    lives.append(job, *sent(job))
    return finish(job, Status.OUTCOME_UNKNOWN)


def authorized_ago(job: ExportJob, seconds: float) -> None:
    """Let cutoff 2 have been so long ago; only the owner can move the clock of a row."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_jobs SET delivery_authorized_at = clock_timestamp() - make_interval(secs => %s)"
            " WHERE id = %s",
            [seconds, job.id],
        )


def collect(collector: Collector | None = None) -> Collected:
    """Run a collector once, as its own role; a new one visits everybody."""
    return (collector or Collector("acknowledger")).run_once(time_budget_seconds=30)


def acknowledgments_of(job: ExportJob) -> list[Acknowledged]:
    """Return what was collected of a job's current attempt, oldest first."""
    details = ExportAttemptEvent.objects.filter(
        job_id=job.id, attempt_id=job.attempt_id, kind=EventKind.DELIVERY_EVIDENCE
    )
    records = [decode(detail) for detail in details.order_by("id").values_list("detail", flat=True)]
    return [record for record in records if isinstance(record, Acknowledged)]


def reconciled(job_id: UUID) -> ExportAttemptEvent:
    event: ExportAttemptEvent = ExportAttemptEvent.objects.get(job_id=job_id, kind=EventKind.RECONCILED)
    return event


def status_of(job: ExportJob) -> str:
    return str(lives.now(job.id).status)


def file_of(job: ExportJob) -> str:
    return str(job.expected_file_name)
