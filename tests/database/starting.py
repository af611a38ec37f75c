"""Rows of export_jobs in every state an export can be in, each consistent in itself, to be inserted as owner."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from psycopg import sql

from exports.states import FailureReason, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

Row = dict[str, Any]

LAPSED, CURRENT = timedelta(hours=-1), timedelta(hours=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER_AUTHORIZED = {FailureReason.BUILD_FAILED, FailureReason.ATTEMPTS_EXHAUSTED}


def ago(**parts: float) -> datetime:
    return datetime.now(UTC) - timedelta(**parts)


def _attempt() -> Row:
    return {"attempt_id": uuid.uuid4(), "attempt_count": 1, "claimed_by": "worker-1"}


def _lease() -> Row:
    return {"lease_expires_at": ago() + CURRENT}


def _authorized() -> Row:
    return {
        "expected_file_name": "contacts-key.csv",
        "expected_file_bytes": 10,
        "expected_file_sha256": b"h" * 32,
        "delivery_authorized_at": ago(minutes=1),
    }


_OF_STATUS: dict[Status, Callable[[], Row]] = {
    Status.QUEUED: dict,
    Status.REJECTED: dict,
    Status.CANCELED: lambda: {"cancellation_request_id": uuid.uuid4()},
    Status.RUNNING: lambda: _attempt() | _lease(),
    Status.STOPPED: lambda: _attempt() | {"stop_request_id": uuid.uuid4()},
    Status.DELIVERING: lambda: _attempt() | _lease() | _authorized(),
    Status.COMPLETED: lambda: _attempt() | _authorized(),
    Status.OUTCOME_UNKNOWN: lambda: _attempt() | _authorized(),
    Status.FAILED: lambda: _attempt() | _authorized() | {"failure_reason": FailureReason.NOT_DELIVERED},
}


def job(status: Status, **values: Any) -> Row:
    """Return one job row of that status; `values` replace columns."""
    key = uuid.uuid4()
    row: Row = {
        "id": key,
        "tenant_id": uuid.uuid4(),
        "status": status,
        "version": 1,
        "destination_id": uuid.uuid4(),
        "delivery_key": key.hex,
        "created_by": "user:ann",
        "woken_at": ago(hours=1),
        "attempt_id": None,
    }
    row |= _OF_STATUS[status]() | values
    if row.get("failure_reason") in NEVER_AUTHORIZED:
        row |= dict.fromkeys(_authorized())
    return row


def replacement(original: Row, status: Status, **values: Any) -> Row:
    """Return a replacement of `original`: its tenant, key and destination, and a reason."""
    carried = {name: original[name] for name in ("tenant_id", "delivery_key", "destination_id")}
    return job(status, **carried, replaces_job_id=original["id"], replacement_reason="asked to", **values)


def insert(connection: psycopg.Connection[Any], row: Row) -> None:
    """Insert a job with its delivery key and the events its attempt must have had."""
    if row.get("replaces_job_id") is None:
        connection.execute(
            "INSERT INTO deliveries (tenant_id, delivery_key, original_job_id) VALUES (%s, %s, %s)",
            [row["tenant_id"], row["delivery_key"], row["id"]],
        )
    names = sql.SQL(", ").join(map(sql.Identifier, row))
    places = sql.SQL(", ").join([sql.Placeholder()] * len(row))
    connection.execute(sql.SQL("INSERT INTO export_jobs ({}) VALUES ({})").format(names, places), list(row.values()))
    for kind in past_events(row):
        connection.execute(
            "INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at)"
            " VALUES (%s, %s, %s, clock_timestamp())",
            [row["id"], row["attempt_id"], kind],
        )


def past_events(row: Row) -> list[str]:
    """Return the kinds that this state cannot be without."""
    claimed = ["Claimed"] if row["attempt_id"] else []
    return claimed + (["DeliveryAuthorized"] if row.get("delivery_authorized_at") else [])
