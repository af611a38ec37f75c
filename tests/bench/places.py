"""Tenants, destinations and contracts that the parts export from and to."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.conf import limits
from exports.models import Contact, Destination, DestinationContract, DestinationSecret, ExportJob, Tenant
from exports.secrets import encrypt
from exports.states import Written

if TYPE_CHECKING:
    from exports.contracts import Contract
    from exports.secrets import Secret

BY = "client:bench"


@dataclass(frozen=True, slots=True)
class Place:
    """One tenant and one destination of it, under an agreed contract."""

    tenant: Tenant
    destination: Destination
    contract: DestinationContract

    def create(self, using: str = "api") -> uuid.UUID:
        """Ask for an export as the API does, and return its id."""
        job_id = uuid.uuid4()
        written = ExportJob.objects.db_manager(using).create_export(
            job_id=job_id,
            tenant_id=self.tenant.id,
            destination_id=self.destination.id,
            delivery_key=job_id.hex,
            created_by=BY,
        )
        assert written is Written.APPLIED
        return job_id


def a_place(terms: Contract, secret: Secret | None = None, contacts: int = 10) -> Place:
    """Make a tenant with contacts and a destination under these terms, the secret sealed as usual."""
    slug = f"bench-{secrets.token_hex(4)}"
    tenant = Tenant.objects.create(slug=slug, name=slug)
    Contact.objects.bulk_create(
        Contact(tenant=tenant, external_id=f"{n:06}", email=f"person{n}@example.org") for n in range(contacts)
    )
    destination = Destination.objects.create(tenant=tenant, name=slug)
    plain = terms.to_json()
    if secret is not None:
        plain["auth"]["secret_id"] = str(_sealed(destination, secret))
    contract = DestinationContract.objects.create(
        destination=destination, version=1, terms=plain, reason="to be measured", created_by=BY
    )
    Destination.objects.filter(id=destination.id).update(active_contract=contract)
    return Place(tenant, destination, contract)


def _sealed(destination: Destination, secret: Secret) -> uuid.UUID:
    ciphertext = encrypt(secret, limits().credential_keys)
    sealed: DestinationSecret = DestinationSecret.objects.create(
        destination=destination, ciphertext=ciphertext, created_by=BY
    )
    return sealed.id
