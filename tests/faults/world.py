"""One tenant with contacts, one partner, and exports for it: the ordinary world in which things then break."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connections

from exports.conf import limits
from exports.contracts import Auth, Contract, Endpoint, HostKey, Paths, Permissions, Verification
from exports.models import (
    Contact,
    Destination,
    DestinationContract,
    DestinationSecret,
    ExportAttemptEvent,
    ExportJob,
    Tenant,
)
from exports.models.base import ClockTimestamp
from exports.secrets import Secret, encrypt
from exports.states import Written

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from config.devstack.partner import PartnerAccount

CONTACTS = 20
BY = "user:tests"


@dataclass(frozen=True)
class World:
    """What a fault test needs to know of its surroundings."""

    tenant: Tenant
    destination: Destination
    contract: DestinationContract
    inbox: Path
    """Where the partner keeps what arrived."""

    def queued(self) -> ExportJob:
        """Create an export as the API does."""
        job_id = uuid.uuid4()
        written = ExportJob.objects.db_manager("api").create_export(
            job_id=job_id,
            tenant_id=self.tenant.id,
            destination_id=self.destination.id,
            delivery_key=secrets.token_hex(8),
            created_by=BY,
        )
        assert written is Written.APPLIED
        return now_of(job_id)

    def final(self, job: ExportJob) -> Path:
        """Where this export's file arrives."""
        return self.inbox / f"contacts-{job.delivery_key}.csv"

    def arrived(self) -> list[str]:
        """Return the names of everything that stands at the partner."""
        return sorted(entry.name for entry in self.inbox.iterdir())

    def arrived_as_recorded(self, job: ExportJob) -> bool:
        """Whether the file at the partner is the one cutoff 2 recorded."""
        recorded = now(job).expected_file_sha256
        content = self.final(job).read_bytes()
        return recorded is not None and hashlib.sha256(content).digest() == bytes(recorded)


def now(job: ExportJob) -> ExportJob:
    """Return the row as it stands now."""
    return now_of(job.id)


def now_of(job_id: uuid.UUID) -> ExportJob:
    """Return the row of this id as it stands now."""
    found: ExportJob = ExportJob.objects.get(id=job_id)
    return found


def kinds(job: ExportJob) -> list[str]:
    """Return the transitions in the job's history, oldest first; evidence left out."""
    events = ExportAttemptEvent.objects.filter(job_id=job.id).exclude(kind="DeliveryEvidence")
    return list(events.order_by("id").values_list("kind", flat=True))


def evidence(job: ExportJob) -> list[str]:
    """Return the stored evidence of the job, oldest first."""
    events = ExportAttemptEvent.objects.filter(job_id=job.id, kind="DeliveryEvidence")
    return [detail or "" for detail in events.order_by("id").values_list("detail", flat=True)]


def a_world(account: PartnerAccount, contacts: int = CONTACTS, **parts: Any) -> World:
    """Make a tenant with contacts, and a destination at this partner under a contract with these parts."""
    slug = f"tenant-{secrets.token_hex(4)}"
    tenant = Tenant.objects.create(slug=slug, name=slug)
    Contact.objects.bulk_create(
        Contact(tenant=tenant, external_id=f"{n:06}", email=f"person{n}@example.org") for n in range(contacts)
    )
    destination = Destination.objects.create(tenant=tenant, name=account.username)
    contract = agree(destination, account, **parts)
    return World(tenant, destination, contract, account.directory)


def agree(destination: Destination, account: PartnerAccount, **parts: Any) -> DestinationContract:
    """Record a contract with this partner and make it the active one."""
    sealed = DestinationSecret.objects.create(
        destination=destination,
        ciphertext=encrypt(Secret(password=account.password), limits().credential_keys),
        created_by=BY,
    )
    parts.setdefault("endpoint", Endpoint(host=account.host, port=account.port))
    parts.setdefault("verification", Verification(read_back=True))
    terms = Contract(
        paths=Paths(directory="/"),
        auth=Auth(user=account.username, secret_id=str(sealed.id)),
        host_keys=(HostKey(account.host_key),),
        permissions=Permissions(may_read=True),
        **parts,
    )
    contract = DestinationContract.objects.create(
        destination=destination,
        version=DestinationContract.objects.filter(destination=destination).count() + 1,
        terms=terms.to_json(),
        reason="for a test",
        created_by=BY,
    )
    destination.active_contract = contract
    destination.save(update_fields=["active_contract"])
    return contract


def expire(job: ExportJob) -> None:
    """Let the current attempt's lease lie in the past, as if its worker had been silent for that long."""
    past = "UPDATE export_jobs SET lease_expires_at = clock_timestamp() - interval '1 s' WHERE id = %s"
    with connections["default"].cursor() as cursor:
        cursor.execute(past, [job.id])


def lease_is_over(job: ExportJob) -> bool:
    """Whether the current attempt's lease has lapsed by the database's clock."""
    return ExportJob.objects.filter(id=job.id, lease_expires_at__lt=ClockTimestamp()).exists()


def lease_of(job: ExportJob) -> datetime:
    """Return until when the job's lease stands now."""
    expires_at = now(job).lease_expires_at
    assert expires_at is not None
    return expires_at
