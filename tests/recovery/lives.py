"""Exports brought to any point of their life by the product's own statements, each under its own role."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connections

from exports.contracts import Auth, Contract, Endpoint, HostKey, Paths
from exports.evidence import encode
from exports.models import (
    Destination,
    DestinationContract,
    DestinationSecret,
    ExportAttemptEvent,
    ExportJob,
    OutboxMessage,
    Tenant,
)
from exports.secrets import Secret, encrypt
from exports.states import Authorization, Status, Written

if TYPE_CHECKING:
    from uuid import UUID

    from config.devstack.partner import PartnerAccount
    from exports.evidence import Evidence

ALIASES = ["default", "api", "worker", "dispatcher", "acknowledger", "reconciliation", "auditor"]
"""The owner as `default`, and every role: what these tests mark themselves with."""

LEASE_SECONDS = 60.0
CONTENT = b"id,email\n1,a@example.org\n"
SHA256 = hashlib.sha256(CONTENT).digest()
CLOSED_PORT = 9
NOBODYS_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPGH6My0jofsro1tzF+gBXweQLA2EEhuu7Ph/hiy1I5x"
"""Of a server that does not exist; a contract must pin one."""


@dataclass(frozen=True)
class Place:
    """A tenant's destination with the contract version that attempts are claimed under."""

    tenant: Tenant
    destination: Destination
    contract_id: UUID
    contract: Contract

    def final_name(self, job: ExportJob) -> str:
        return self.contract.final_name(job.delivery_key)


def a_place(
    account: PartnerAccount | None = None,
    *,
    sealed_under: str = "",
    tenant: Tenant | None = None,
    port: int = CLOSED_PORT,
    **contract: Any,
) -> Place:
    """Make a tenant, a destination and its active contract: with `account`, or with a partner nobody can reach."""
    tenant = tenant or Tenant.objects.create(slug=f"t-{secrets.token_hex(4)}", name="Tenant")
    destination = Destination.objects.create(tenant=tenant, name=f"d-{secrets.token_hex(4)}")
    terms = Contract(
        endpoint=Endpoint(host="127.0.0.1", port=account.port if account else port),
        paths=Paths(directory="/"),
        auth=Auth(
            user=account.username if account else "nobody",
            secret_id=_secret(destination, account, sealed_under),
        ),
        host_keys=(HostKey(key=account.host_key if account else NOBODYS_KEY),),
        **contract,
    )
    row = DestinationContract.objects.create(
        destination=destination, version=1, terms=terms.to_json(), reason="test", created_by="user:test"
    )
    destination.active_contract = row
    destination.save()
    return Place(tenant, destination, row.id, terms)


def _secret(destination: Destination, account: PartnerAccount | None, sealed_under: str) -> str:
    if not sealed_under:
        return str(uuid.uuid4())
    sealed = encrypt(Secret(password=account.password if account else "none"), [sealed_under])
    secret = DestinationSecret.objects.create(destination=destination, ciphertext=sealed, created_by="user:test")
    return str(secret.id)


def queued(place: Place) -> ExportJob:
    job_id = uuid.uuid4()
    written = ExportJob.objects.db_manager("api").create_export(
        job_id=job_id,
        tenant_id=place.tenant.id,
        destination_id=place.destination.id,
        delivery_key=str(uuid.uuid4()),
        created_by="client:crm",
    )
    assert written is Written.APPLIED
    return now(job_id)


def claim(job: ExportJob, place: Place, *, version: int | None = None) -> UUID:
    attempt_id = uuid.uuid4()
    written = ExportJob.objects.db_manager("worker").claim(
        job_id=job.id,
        checked_version=version or job.version,
        attempt_id=attempt_id,
        worker_id="worker:test",
        contract_id=place.contract_id,
        lease_seconds=LEASE_SECONDS,
    )
    assert written is Written.APPLIED
    return attempt_id


def attempt_of(job: ExportJob) -> UUID:
    """Return the job's current attempt; it must have one."""
    assert job.attempt_id is not None
    return job.attempt_id


def authorize(
    job: ExportJob,
    place: Place,
    *,
    attempt_id: UUID | None = None,
    size: int = len(CONTENT),
    sha256: bytes = SHA256,
) -> Authorization:
    """Ask for cutoff 2 as the job's attempt, or as another one."""
    return ExportJob.objects.db_manager("worker").authorize_delivery(
        job_id=job.id,
        attempt_id=attempt_id or attempt_of(job),
        final_name=place.final_name(job),
        file_rows=1,
        file_bytes=size,
        file_sha256=sha256,
    )


def running(place: Place) -> ExportJob:
    job = queued(place)
    claim(job, place)
    return now(job.id)


def delivering(place: Place, **file: Any) -> ExportJob:
    job = running(place)
    assert authorize(job, place, **file) is Authorization.AUTHORIZED
    return now(job.id)


def finish(job: ExportJob, outcome: Status = Status.COMPLETED) -> ExportJob:
    append(job)
    written = ExportJob.objects.db_manager("worker").finish_delivery(
        job_id=job.id,
        attempt_id=attempt_of(job),
        worker_id="worker:test",
        outcome=outcome,
        reason=None,
        detail=f"{outcome}: test",
    )
    assert written is Written.APPLIED
    return now(job.id)


def append(job: ExportJob, *records: Evidence, attempt_id: UUID | None = None) -> None:
    """Append evidence of the job's attempt as its worker does."""
    events = ExportAttemptEvent.objects.db_manager("worker")
    for detail in [encode(record) for record in records] or ['{"v":1,"kind":"document"}']:
        written = events.append_evidence(
            job_id=job.id, attempt_id=attempt_id or attempt_of(job), observed_by="worker:test", detail=detail
        )
        assert written is Written.APPLIED


def expire(*jobs: ExportJob, seconds: float = 1.0) -> None:
    """Let these leases have ended so many seconds ago; only the owner can move the clock of a row."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_jobs SET lease_expires_at = clock_timestamp() - make_interval(secs => %s)"
            " WHERE id = ANY(%s)",
            [seconds, [job.id for job in jobs]],
        )


def age(*jobs: ExportJob, seconds: float) -> None:
    """Let the last wake-up of these be so many seconds ago."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_jobs SET woken_at = clock_timestamp() - make_interval(secs => %s) WHERE id = ANY(%s)",
            [seconds, [job.id for job in jobs]],
        )


def now(job_id: UUID) -> ExportJob:
    job: ExportJob = ExportJob.objects.get(id=job_id)
    return job


def events_of(job: ExportJob) -> list[str]:
    """Return the kinds of a job's events, oldest first."""
    return list(ExportAttemptEvent.objects.filter(job_id=job.id).order_by("id").values_list("kind", flat=True))


def wake_ups_of(job: ExportJob) -> list[UUID]:
    rows = OutboxMessage.objects.filter(job_id=job.id).order_by("created_at")
    return list(rows.values_list("message_id", flat=True))
