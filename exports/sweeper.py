"""The backstop for lost wake-ups: a queued export that nobody has woken for too long gets a new one (I5).

Outboxes, dispatchers, brokers and settled messages can all strand an export; whichever did, its `woken_at` grows
old. Each batch is one conditional statement and passes over rows that another writer holds; the next sweep
finds those again. A wake-up too many is harmless: it repeats policy's evaluation, and one claim wins.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from exports.conf import limits
from exports.crashpoints import reach
from exports.models import ExportJob
from exports.observability import counters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

logger = logging.getLogger(__name__)

SWEPT_OFTEN = 3
"""One lost wake-up is bad luck; three in a row say that something between the outbox and the workers is broken."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one run did; `finished` is False when its time ran out or the database gave no answer."""

    woken: int = 0
    batches: int = 0
    swept_often: int = 0
    finished: bool = True


def run() -> Swept:
    """Sweep within one interval's time, and log what was found."""
    swept = run_once(limits().sweep_batch, time_budget_seconds=limits().sweep_every_seconds)
    if swept.woken or not swept.finished:
        logger.info("swept", extra=asdict(swept))
    return swept


def run_once(limit: int, *, time_budget_seconds: float, using: str = "default") -> Swept:
    """Wake every export that is due, up to `limit` a statement, until none is left or the time is over."""
    close_old_connections()
    stop_at = time.monotonic() + time_budget_seconds
    swept = Swept()
    try:
        while True:
            woken = _sweep(limit, using)
            swept = _add(swept, woken, using)
            if len(woken) < limit:
                return swept
            if time.monotonic() >= stop_at:
                return Swept(swept.woken, swept.batches, swept.swept_often, finished=False)
    except (DatabaseError, InterfaceError) as error:
        # Applied or not, the row says so: what was woken is no longer due, the rest still is.
        logger.warning("sweep_stopped", extra={"error": type(error).__name__, "words": str(error)})
        connections[using].close()
        return Swept(swept.woken, swept.batches, swept.swept_often, finished=False)


def _sweep(limit: int, using: str) -> list[UUID]:
    reach("sweep.before")
    woken = ExportJob.objects.db_manager(using).sweep(sweep_after_seconds=limits().sweep_after_seconds, batch=limit)
    reach("sweep.after")
    return woken


def _add(swept: Swept, woken: Sequence[UUID], using: str) -> Swept:
    often = _warn_of_rising_counts(woken, using)
    counters.swept.inc(len(woken))
    counters.swept_often.inc(often)
    return Swept(swept.woken + len(woken), swept.batches + bool(woken), swept.swept_often + often)


def _warn_of_rising_counts(woken: Sequence[UUID], using: str) -> int:
    swept = ExportJob.objects.using(using).filter(id__in=woken)
    often = 0
    for job_id, tenant_id, sweep_count in swept.values_list("id", "tenant_id", "sweep_count"):
        counters.sweeps_per_job.observe(sweep_count)
        if sweep_count >= SWEPT_OFTEN:
            often += 1
            ids = {"job_id": str(job_id), "tenant_id": str(tenant_id)}
            logger.warning("swept_often", extra=ids | {"sweep_count": sweep_count})
    return often
