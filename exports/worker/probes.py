"""A worker's part of a probe: take the request, try the destination, record what was found, once (I7)."""

from __future__ import annotations

import logging
import os
import socket
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from django.db import IntegrityError, close_old_connections, transaction

from exports.contracts import Contract, ContractError
from exports.models import ProbeRequest, ProbeResult, ProbeRun
from exports.probing.judging import propose
from exports.probing.reading import under_way, waiting
from exports.probing.report import Report
from exports.probing.trying import try_destination
from exports.worker.partner import open_unpooled

if TYPE_CHECKING:
    from uuid import UUID

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 1
"""Probes under way in all workers together: a partner that hangs takes one thread of a queue that recovery needs."""

SENT_FOR_SECONDS = 30.0
"""A message nobody took for so long is dropped: the request is still there, and is sent again."""

UNEXPECTED = "The probe failed in an unexpected way; the worker's log says how."


@unique
class Ran(StrEnum):
    """What became of one message."""

    RECORDED = "recorded"
    TAKEN = "taken"
    UNKNOWN = "unknown"


def due(using: str = "default") -> list[UUID]:
    """Return the requests to send now: the oldest, as many as may be under way."""
    close_old_connections()
    free = MOST_AT_ONCE - under_way(using)
    return list(waiting(using).values_list("id", flat=True)[: max(0, free)])


def run(request_id: UUID, using: str = "default") -> Ran:
    """Try the destination of one request, if nobody else has taken it. Database errors pass through."""
    close_old_connections()
    request = ProbeRequest.objects.using(using).select_related("contract").filter(id=request_id).first()
    if request is None:
        return Ran.UNKNOWN
    worker_id = f"{socket.gethostname()}:{os.getpid()}"
    if not _take(request, worker_id, using):
        return Ran.TAKEN
    report = _tried(request, using)
    # The connection was idle for minutes, perhaps longer than somebody between here and the database allows.
    close_old_connections()
    _record(request, report, worker_id, using)
    return Ran.RECORDED


def _take(request: ProbeRequest, worker_id: str, using: str) -> bool:
    """Take the request; False when another worker was first."""
    try:
        with transaction.atomic(using=using):
            ProbeRun.objects.using(using).create(request=request, worker_id=worker_id)
    except IntegrityError:
        return False
    return True


def _tried(request: ProbeRequest, using: str) -> Report:
    try:
        contract = Contract.from_json(request.contract.terms)
        return try_destination(str(request.id), contract, lambda terms, passed: open_unpooled(terms, using, passed))
    except ContractError as error:
        return Report(trouble=f"The contract cannot be read: {error}")
    except Exception:
        logger.exception("probe_failed", extra={"request_id": str(request.id)})
        return Report(trouble=UNEXPECTED)


def _record(request: ProbeRequest, report: Report, worker_id: str, using: str) -> None:
    mode = propose(report).mode
    ProbeResult.objects.using(using).create(
        request=request,
        worker_id=worker_id,
        server=report.server,
        host_key=report.host_key,
        proposed_mode=mode or "",
        report=report.to_json(),
    )
    logger.info(
        "destination_probed",
        extra={
            "request_id": str(request.id),
            "destination_id": str(request.destination_id),
            "server": report.server,
            "proposed_mode": mode or "",
            "trouble": report.trouble,
            "leftovers": len(report.leftovers),
        },
    )
