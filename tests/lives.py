"""Exports brought where a test needs them, by the statements and roles that bring them there."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exports import evidence as seen
from exports.actions.request_cancellation import Click, Recorded, request_cancellation
from exports.models import DestinationContract, ExportAttemptEvent, ExportJob
from exports.states import Authorization, FailureReason, Status, Written
from tests.people import an_export

if TYPE_CHECKING:
    from exports.models import CancellationRequest, Destination

CONTENT = b"external_id\r\n1\r\n"
SHA256 = hashlib.sha256(CONTENT)
WORKER = "worker-1"


@dataclass
class Life:
    """One export and its current attempt."""

    job: ExportJob
    attempt_id: uuid.UUID

    @property
    def name(self) -> str:
        return f"contacts-{self.job.delivery_key}.csv"

    def write(self, statement: str, **values: Any) -> Any:
        jobs = ExportJob.objects.db_manager("worker")
        return getattr(jobs, statement)(job_id=self.job.id, attempt_id=self.attempt_id, **values)

    def show(self, record: seen.Evidence) -> None:
        self.append(seen.encode(record))

    def append(self, detail: str) -> None:
        events = ExportAttemptEvent.objects.db_manager("worker")
        events.append_evidence(job_id=self.job.id, attempt_id=self.attempt_id, observed_by=WORKER, detail=detail)

    def authorize(self) -> Life:
        word = self.write(
            "authorize_delivery",
            final_name=self.name,
            file_rows=1,
            file_bytes=len(CONTENT),
            file_sha256=SHA256.digest(),
        )
        assert word is Authorization.AUTHORIZED
        return self

    def fail(self, reason: FailureReason) -> Life:
        applied(self.write("finish_failed", worker_id=WORKER, reason=reason, detail=None))
        return self

    def stop(self) -> Life:
        applied(self.write("finish_stopped", worker_id=WORKER, stop_point="build"))
        return self

    def finish(self, outcome: Status, reason: FailureReason | None = None) -> Life:
        applied(self.write("finish_delivery", worker_id=WORKER, outcome=outcome, reason=reason, detail=outcome.value))
        return self

    def cancel(self, who: str = "user:ann", reason: str | None = "wrong list") -> CancellationRequest:
        return cancel(self.job, who, reason)


def applied(written: Written) -> None:
    assert written is Written.APPLIED


def cancel(job: ExportJob, who: str = "user:ann", reason: str | None = "wrong list") -> CancellationRequest:
    click = Click(tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by=who, reason=reason)
    answer = request_cancellation(click, using="api")
    assert isinstance(answer, Recorded)
    return answer.request


def running(destination: Destination, **values: Any) -> Life:
    life = Life(an_export(destination, **values), uuid.uuid4())
    applied(
        life.write(
            "claim",
            checked_version=1,
            worker_id=WORKER,
            contract_id=a_contract(destination).id,
            lease_seconds=60,
        )
    )
    return life


def delivering(destination: Destination) -> Life:
    return running(destination).authorize()


def delivered(destination: Destination) -> Life:
    life = delivering(destination)
    life.show(seen.Baseline(seen.Absent()))
    life.show(seen.PublishSent(seen.PublishForm.LINK, f".{life.attempt_id}", life.name))
    life.show(seen.PublishAnswered(seen.Accepted()))
    life.show(seen.ReadBack(seen.Present(len(CONTENT), SHA256.hexdigest())))
    life.show(seen.Outcome(seen.Conclusion.COMPLETED, seen.Proof.HASH))
    return life.finish(Status.COMPLETED)


def unknown(destination: Destination) -> Life:
    life = delivering(destination)
    life.show(seen.PublishSent(seen.PublishForm.LINK, f".{life.attempt_id}", life.name))
    life.show(seen.PublishAnswered(seen.NoReply(seen.Trouble.CONNECTION_LOST)))
    return life.finish(Status.OUTCOME_UNKNOWN)


def rejected(destination: Destination, *reasons: str) -> ExportJob:
    job = an_export(destination)
    applied(ExportJob.objects.db_manager("worker").reject(job_id=job.id, checked_version=1, reasons=reasons))
    return job


def a_contract(destination: Destination) -> DestinationContract:
    contract, _ = DestinationContract.objects.get_or_create(
        destination=destination, version=1, defaults={"terms": {}, "reason": "first", "created_by": "user:ann"}
    )
    return contract
