"""Thousands of expired exports at once, with the histories that would have led there, written by the owner."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db import connections, transaction

from exports.evidence import (
    Absent,
    Accepted,
    Baseline,
    Present,
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    encode,
)
from tests.recovery.lives import CONTENT, SHA256

if TYPE_CHECKING:
    from uuid import UUID

    from exports.evidence import Evidence
    from tests.recovery.lives import Place

CAP = 5


class Kind(StrEnum):
    """What recovery will find of an expired export."""

    RUNNING = "running"
    STOP_REQUESTED = "stop requested"
    AT_THE_CAP = "at the cap"
    RECEIPT = "receipt appended"
    ABOUT_TO_PUBLISH = "about to publish"


DELIVERING = {Kind.RECEIPT, Kind.ABOUT_TO_PUBLISH}

JOBS = """
CREATE TEMPORARY TABLE crowd ON COMMIT DROP AS
SELECT gen_random_uuid() AS id, gen_random_uuid() AS attempt_id, gen_random_uuid() AS request_id,
       gen_random_uuid()::text AS delivery_key
FROM generate_series(1, %(count)s);

INSERT INTO deliveries (tenant_id, delivery_key, original_job_id) SELECT %(tenant)s, delivery_key, id FROM crowd;

INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, attempt_id, attempt_count, claimed_by,
                         lease_expires_at, stop_request_id, expected_file_name, expected_file_bytes,
                         expected_file_sha256, delivery_authorized_at, woken_at, delivery_key, created_by)
SELECT id, %(tenant)s, CASE WHEN %(delivering)s THEN 'Delivering' ELSE 'Running' END, 1, %(destination)s, attempt_id,
       %(attempts)s, 'worker:test', clock_timestamp() - make_interval(secs => %(expired_seconds)s),
       CASE WHEN %(stopped)s THEN request_id END,
       CASE WHEN %(delivering)s THEN 'contacts-' || delivery_key || '.csv' END,
       CASE WHEN %(delivering)s THEN %(file_bytes)s END, CASE WHEN %(delivering)s THEN %(sha256)s END,
       CASE WHEN %(delivering)s THEN clock_timestamp() END, clock_timestamp(), delivery_key, 'client:crm'
FROM crowd;

INSERT INTO creation_requests (job_id, tenant_id, requested_by, destination_id)
SELECT id, %(tenant)s, 'client:crm', %(destination)s FROM crowd;

INSERT INTO outbox (message_id, kind, job_id, created_at, published_at)
SELECT gen_random_uuid(), 'ExportReady', id, clock_timestamp(), clock_timestamp() FROM crowd;

INSERT INTO export_attempt_events (job_id, attempt_id, kind, version, detail, recorded_at)
SELECT id, earlier.attempt_id, kind.word, 1, NULL, clock_timestamp()
FROM crowd
CROSS JOIN LATERAL (SELECT gen_random_uuid() AS attempt_id, crowd.id AS of_each
                    FROM generate_series(2, %(attempts)s)) earlier
CROSS JOIN (VALUES (1, 'Claimed'), (2, 'RequeuedByRecovery')) kind (nth, word)
ORDER BY id, earlier.attempt_id, kind.nth;

INSERT INTO export_attempt_events (job_id, attempt_id, kind, version, worker_id, detail, recorded_at)
SELECT id, attempt_id, 'Claimed', 1, 'worker:test', %(contract)s, clock_timestamp() FROM crowd;

INSERT INTO cancellation_requests (tenant_id, id, job_id, requested_by, outcome, found_status, found_attempt_id,
                                   found_attempt_count)
SELECT %(tenant)s, request_id, id, 'user:ann', 'StopRequested', 'Running', attempt_id, %(attempts)s
FROM crowd WHERE %(stopped)s;

INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)
SELECT j.id, j.attempt_id, 'DeliveryAuthorized', j.expected_file_name, j.delivery_authorized_at
FROM crowd JOIN export_jobs j USING (id) WHERE %(delivering)s;
"""

EVIDENCE = """
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT id, attempt_id, 'DeliveryEvidence', 'worker:test', record.detail, clock_timestamp()
FROM crowd CROSS JOIN unnest(%(records)s::text[]) WITH ORDINALITY record (detail, nth)
ORDER BY id, record.nth
"""


@dataclass(frozen=True)
class Crowd:
    """So many exports of a kind at a place, their leases over for so many seconds."""

    place: Place
    kind: Kind
    count: int
    expired_seconds: float = 5.0


def gather(crowd: Crowd) -> list[tuple[UUID, str]]:
    """Write a crowd; return each export's id and final name."""
    params = _params(crowd)
    with transaction.atomic(), connections["default"].cursor() as cursor:
        for statement in filter(str.strip, JOBS.split(";")):
            cursor.execute(statement, params)
        records = [encode(record) for record in _evidence(crowd.kind)]
        cursor.execute(EVIDENCE, {"records": records})
        cursor.execute("SELECT id, 'contacts-' || delivery_key || '.csv' FROM crowd")
        return list(cursor.fetchall())


def _params(crowd: Crowd) -> dict[str, Any]:
    return {
        "count": crowd.count,
        "tenant": crowd.place.tenant.id,
        "destination": crowd.place.destination.id,
        "contract": str(crowd.place.contract_id),
        "delivering": crowd.kind in DELIVERING,
        "stopped": crowd.kind is Kind.STOP_REQUESTED,
        "attempts": CAP if crowd.kind is Kind.AT_THE_CAP else 1,
        "expired_seconds": crowd.expired_seconds,
        "file_bytes": len(CONTENT),
        "sha256": SHA256,
    }


def _evidence(kind: Kind) -> tuple[Evidence, ...]:
    if kind not in DELIVERING:
        return ()
    sent = (Baseline(Absent()), PublishSent(PublishForm.LINK, ".temporary", "final"))
    receipt = (PublishAnswered(Accepted()), ReadBack(Present(len(CONTENT), SHA256.hex())))
    return (*sent, *receipt) if kind is Kind.RECEIPT else sent
