"""Finding exports: one by its id, or all that a person or client may see."""

from __future__ import annotations

import logging
import re
import uuid
from typing import TYPE_CHECKING, Any

from structlog.contextvars import bind_contextvars

from exports.models import CancellationRequest, Delivery, ExportJob, OutboxMessage, Tenant
from exports.queries.keyset import Keyset

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from exports.access import Reach

NEWEST_FIRST = Keyset(("created_at", "id"))
"""The order of every list of exports; one index by tenant and one over all carry it."""

MOST_FOUND = 100
"""Exports that one pasted text may mean: a key belongs to one original a tenant and its few replacements."""

access_log = logging.getLogger("exports.access")

_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_FINAL_NAME = re.compile(r"(?:.*/)?(?:contacts-)?(?P<key>[A-Za-z0-9-]{1,200})(?:\.[A-Za-z0-9.]{1,20})?")


def as_uuid(text: str) -> UUID | None:
    """Read an id from a URL or a form; None when it is none, so that it looks like any unknown id."""
    return uuid.UUID(text) if _UUID.fullmatch(text) else None


def visible(reach: Reach) -> QuerySet[Any]:
    """Return every export within reach, with the names that pages and payloads show."""
    return reach.narrow(ExportJob.objects.select_related("tenant", "destination"))


def find(reach: Reach, job_id: UUID | None, *, actor: str) -> ExportJob | None:
    """Return one export within reach, or None: nobody's and somebody else's alike.

    Read by id alone and judged afterwards, so that both cases cost the same one row; the access log knows
    which it was, the asker never does (SECURITY: another tenant's data).
    """
    rows = ExportJob.objects.select_related("tenant", "destination").filter(id=job_id)
    job: ExportJob | None = rows.first() if job_id else None
    if job is not None and reach.covers(job.tenant_id):
        # Every later line of the request that asked carries them.
        bind_contextvars(job_id=str(job.id), tenant_id=str(job.tenant_id))
        return job
    why = "missing" if job is None else "foreign"
    access_log.warning("export_out_of_reach", extra={"actor": actor, "asked_for": str(job_id), "why": why})
    return None


def search(rows: QuerySet[Any], text: str, reach: Reach) -> QuerySet[Any]:
    """Keep the exports that a pasted id, delivery key, final name or request id means, with replacements."""
    ids = _originals_of_keys(text, reach)
    found = _UUID.search(text)
    if found:
        ids |= _meant_by_id(uuid.UUID(found.group()), reach)
    ids |= set(ExportJob.objects.filter(replaces_job_id__in=ids).values_list("id", flat=True)[:MOST_FOUND])
    return rows.filter(id__in=ids)


def creators_meant(name: str) -> list[str]:
    """Return who is meant by a name as people type it, of those who have created anything.

    Mostly that is one, and one creator's exports are read in their order from an index, which several are not.
    """
    first, *others = (
        ExportJob.objects.filter(created_by=each)
        .order_by("-created_at", "-id")
        .values_list("created_by", flat=True)[:1]
        for each in (name, f"user:{name}", f"client:{name}")
    )
    return list(first.union(*others, all=True))


def _originals_of_keys(text: str, reach: Reach) -> set[UUID]:
    named = _FINAL_NAME.fullmatch(text.strip())
    pasted = _UUID.search(text)
    keys = {match.group(group) for match, group in ((named, "key"), (pasted, 0)) if match}
    rows = _with_tenant(Delivery.objects.filter(delivery_key__in=sorted(keys)), reach)
    return set(rows.values_list("original_job_id", flat=True)[:MOST_FOUND])


def _meant_by_id(meant: UUID, reach: Reach) -> set[UUID]:
    clicks = _with_tenant(CancellationRequest.objects.filter(id=meant), reach)
    wake_ups = OutboxMessage.objects.filter(message_id=meant)
    return {
        meant,
        *clicks.values_list("job_id", flat=True)[:MOST_FOUND],
        *wake_ups.values_list("job_id", flat=True),
    }


def _with_tenant(rows: QuerySet[Any], reach: Reach) -> QuerySet[Any]:
    """Name the tenants even where all are meant: the primary keys of these tables begin with theirs."""
    if reach.tenant_ids is None:
        return rows.filter(tenant_id__in=Tenant.objects.values("id"))
    return reach.narrow(rows)
