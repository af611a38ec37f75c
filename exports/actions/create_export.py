"""Create an export, or recognise the one that the same request has already created.

Implements the reference's job creation (one statement: the job, its delivery key, its creation request and its
first wake-up) and INTERFACES' promise to a client that retries: the same id by the same client with the terms
first asked for is the same export, whatever has happened to it since.
"""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, IntegrityError
from psycopg.errors import UniqueViolation

from exports import boundary
from exports.crashpoints import reach
from exports.models import CreationRequest, Destination, ExportJob

if TYPE_CHECKING:
    from uuid import UUID

    from exports.models import Tenant

logger = logging.getLogger(__name__)

GIVE_UP_SECONDS = 2.0
"""How long a definite "not now" is tried again: two clients with one id wait for each other far less, and the
person or system that asked is still there to ask again."""


@dataclass(frozen=True, slots=True)
class Created:
    """The export was brought into being by this call."""

    job: ExportJob


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same request had created it before; `job` is as it is now."""

    job: ExportJob


@dataclass(frozen=True, slots=True)
class IdReused:
    """The id belongs to another client, another tenant or other terms; nothing was written."""


@dataclass(frozen=True, slots=True)
class NoSuchDestination:
    """This tenant has no such destination, be it nobody's or somebody else's; nothing was written."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Neither the statement nor the row answered; asking again with `job_id` is safe and finds out."""

    job_id: UUID


Creation = Created | Repeated | IdReused | NoSuchDestination | Unsettled


@dataclass(frozen=True, slots=True)
class _Request:
    """What is being asked for, under which key this call would deliver it, and on which alias."""

    job_id: UUID
    tenant_id: UUID
    destination_id: UUID
    delivery_key: str
    created_by: str
    using: str


def create_export(
    tenant: Tenant,
    destination_id: UUID,
    created_by: str,
    job_id: UUID | None = None,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> Creation:
    """Create an export of this tenant's contacts to one of its destinations.

    `job_id` is the request id of whoever asks and becomes the export's id; without one, a fresh one is used.
    The caller has checked that `created_by` may create for this tenant. Definite database errors other than a
    taken id pass through: nothing was written.
    """
    if not Destination.objects.using(using).filter(id=destination_id, tenant_id=tenant.id).exists():
        return NoSuchDestination()
    request = _Request(
        job_id=job_id or uuid.uuid4(),
        tenant_id=tenant.id,
        destination_id=destination_id,
        delivery_key=str(uuid.uuid4()),
        created_by=created_by,
        using=using,
    )
    unknown: Creation = Unsettled(request.job_id)
    answer = boundary.settle(
        lambda: _write(request),
        lambda: _read_back(request),
        unknown=unknown,
        give_up_at=time.monotonic() + GIVE_UP_SECONDS,
        using=using,
    )
    if isinstance(answer, Created):
        ids = {"job_id": str(request.job_id), "tenant_id": str(tenant.id)}
        logger.info("export_created", extra=ids | {"actor": created_by})
    return answer


def _write(request: _Request) -> Creation:
    reach("create.before")
    try:
        ExportJob.objects.db_manager(request.using).create_export(
            job_id=request.job_id,
            tenant_id=request.tenant_id,
            destination_id=request.destination_id,
            delivery_key=request.delivery_key,
            created_by=request.created_by,
        )
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        return _whose(request)
    reach("create.after")
    return Created(ExportJob.objects.using(request.using).get(id=request.job_id))


def _read_back(request: _Request) -> Creation:
    """Say what the row shows after a lost answer; absent, the old session being over, it was not applied."""
    found = _whose(request)
    absent = (
        isinstance(found, IdReused) and not ExportJob.objects.using(request.using).filter(id=request.job_id).exists()
    )
    return Unsettled(request.job_id) if absent else found


def _whose(request: _Request) -> Creation:
    """Tell an honest retry from a foreign use of the id by the terms that were first asked for.

    The creation request is compared, not the job: an edit of the terms since makes no retry dishonest.
    """
    first = CreationRequest.objects.using(request.using).filter(
        job_id=request.job_id,
        tenant_id=request.tenant_id,
        requested_by=request.created_by,
        destination_id=request.destination_id,
        replaces_job_id=None,
    )
    if not first.exists():
        return IdReused()
    job = ExportJob.objects.using(request.using).get(id=request.job_id)
    return Created(job) if job.delivery_key == request.delivery_key else Repeated(job)
