"""What is looked at between a finished file and cutoff 2, while a mistake still costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.contracts import EmptyExport
from exports.models import AuthorizedFile, ExportJob
from exports.states import Status

if TYPE_CHECKING:
    from exports.contracts import Contract


def objection(job: ExportJob, contract: Contract, rows: int, size: int, using: str) -> str | None:
    """Say what looks wrong about a file of so many contacts and bytes, or None."""
    if rows == 0 and contract.payload.empty_export is EmptyExport.HOLD:
        return "The file has no contacts."
    most = contract.guards.max_rows
    if most is not None and rows > most:
        return f"The file has {rows:,} contacts; the contract allows {most:,}."
    largest = contract.guards.max_bytes
    if largest is not None and size > largest:
        return f"The file has {size:,} bytes; the partner takes {largest:,}."
    percent = contract.guards.max_change_percent
    return None if percent is None else _changed_too_much(job, rows, percent, using)


def _changed_too_much(job: ExportJob, rows: int, percent: int, using: str) -> str | None:
    last = last_delivered_rows(job, using)
    if last is None or abs(rows - last) * 100 <= percent * max(last, 1):
        return None
    return f"The file has {rows:,} contacts; the last delivery there had {last:,}, and {percent} % change is allowed."


def last_delivered_rows(job: ExportJob, using: str) -> int | None:
    """Return how many contacts the destination's last completed delivery had, or None when there was none."""
    delivered = ExportJob.objects.using(using).filter(destination_id=job.destination_id, status=Status.COMPLETED)
    attempt = (
        delivered.exclude(delivery_authorized_at=None).order_by("-delivery_authorized_at").values("attempt_id")[:1]
    )
    return AuthorizedFile.objects.using(using).filter(attempt_id__in=attempt).values_list("rows", flat=True).first()
