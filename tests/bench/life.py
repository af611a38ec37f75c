"""One export's whole life through the worker's own boundary writes, delivered nowhere: nine statements."""

from __future__ import annotations

import hashlib
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from exports.destinations.delivery import Confirmation, Order, deliver
from exports.evidence import Evidence, ExpectedFile, encode
from exports.models import ExportJob
from exports.states import Authorization, Status, Written
from exports.worker.delivering import status_of
from exports.worker.spool import ExportFile
from exports.worker.writes import AttemptWrites, Claim, Terminal
from tests.bench.nowhere import Nowhere

if TYPE_CHECKING:
    from exports.contracts import Contract
    from exports.destinations.protocol import Session

WORKER = "bench:1:abcdef"
SHA256 = hashlib.sha256(b"nothing").digest()
ROWS, SIZE = 100, 6_400


@dataclass(frozen=True, slots=True)
class Terms:
    """Whom the lives belong to and where they go."""

    tenant_id: uuid.UUID
    destination_id: uuid.UUID
    contract_id: uuid.UUID
    contract: Contract


def live(terms: Terms, *, api: str = "api", worker: str = "worker") -> None:
    """Create, claim, authorize, deliver with all its evidence, and finish one export."""
    job = born(terms, api)
    writes = AttemptWrites(job.id, uuid.uuid4(), WORKER, lambda: time.monotonic() + 60, worker)
    assert writes.claim(job, terms.contract_id, terms.contract.limits) is Claim.CLAIMED
    expected = ExpectedFile(terms.contract.final_name(job.delivery_key), SIZE, SHA256.hex())
    file = ExportFile(Path("nowhere"), ROWS, SIZE, SHA256)
    word = writes.authorize(file, expected.name, lease_until=time.monotonic() + 60)
    assert word is Authorization.AUTHORIZED
    order = Order(terms.contract, str(writes.attempt_id), file.path, expected)
    verdict = deliver(cast("Session", Nowhere(expected)), order, lambda record: _append(writes, record)).verdict
    outcome, reason = status_of(verdict.conclusion)
    assert outcome is Status.COMPLETED
    assert writes.finish_delivery(outcome, reason, f"{outcome}: {verdict.reason}") is Terminal.APPLIED


def born(terms: Terms, using: str) -> ExportJob:
    """Create an export and return its row as it was written."""
    job = ExportJob(
        id=uuid.uuid4(), tenant_id=terms.tenant_id, destination_id=terms.destination_id, version=1, status=Status.QUEUED
    )
    job.delivery_key = job.id.hex
    written = ExportJob.objects.db_manager(using).create_export(
        job_id=job.id,
        tenant_id=job.tenant_id,
        destination_id=job.destination_id,
        delivery_key=job.delivery_key,
        created_by="client:bench",
    )
    assert written is Written.APPLIED
    return job


def _append(writes: AttemptWrites, record: Evidence) -> Confirmation:
    return Confirmation.CONFIRMED if writes.append(encode(record)) else Confirmation.NOT_CONFIRMED
