"""From the names a schedule speaks of to the parameters the statements are given."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.interleavings.world import MAX_ATTEMPTS, uid

if TYPE_CHECKING:
    from tests.interleavings.rules import Call

SWEEP_AFTER_SECONDS = 1800
"""The sweeper's bound: starting states were woken a minute or three hours ago."""


LAST_TENANT = UUID(int=2**128 - 1)
"""A dispatcher's round begins anew: with the seeded wake-ups, which name no tenant."""
WOKEN_BEFORE = "woken before the moment given"
"""Stands for a parameter that is the moment of the call: half a minute ago."""


@cache
def parameters(call: Call, index: int) -> dict[str, Any]:
    """Return everything any statement could be given; `index` tells one session's own names from another's."""
    return _identities(call) | _people(call, index) | _values(call) | _texts(call) | _found(call)


def _identities(call: Call) -> dict[str, Any]:
    return {
        "job_id": None if call.anyone else uid(call.new or call.target),
        "tenant_id": uid(call.tenant),
        "attempt_id": uid(call.attempt),
        "expired_attempt_id": uid(call.attempt),
        "request_id": uid(call.request),
        "destination_id": uid(call.destination),
        "original_job_id": uid(call.target),
        "contract_id": str(uid("contract")),
        "message_ids": [uid(call.message)],
    }


def _people(call: Call, index: int) -> dict[str, Any]:
    people = "observed_by requested_by changed_by created_by reconciled_by corrected_by"
    return {
        "worker_id": f"worker-{index}",
        "recovery_run_id": f"recovery-{index}",
        **dict.fromkeys(people.split(), call.person),
    }


def _values(call: Call) -> dict[str, Any]:
    return {
        "checked_version": call.version,
        "expected_version": call.version,
        "lease_seconds": 3600,
        "max_attempts": MAX_ATTEMPTS,
        "sweep_after_seconds": SWEEP_AFTER_SECONDS,
        "batch": 1,
        "after_tenant": LAST_TENANT,
        "judged_evidence": call.judged,
        "outcome": call.outcome or call.to.value,
        "resolution": call.to.value,
        "corrected_status": call.to.value,
        "recorded_status": call.recorded.value,
        "failure_reason": call.reason and call.reason.value,
        "allow_same_person": call.allow_same_person,
        "for_seconds": None,
        "woken_before": WOKEN_BEFORE,
        "file_rows": 1,
        "file_bytes": 10,
        "file_sha256": b"\0",
    }


def _texts(call: Call) -> dict[str, Any]:
    return {
        "detail": f"{call.to.value}: {call.evidence}",
        "evidence_summary": call.evidence,
        "evidence_ref": call.evidence,
        "reason": "because",
        "reasons": Jsonb(["because"]),
        "replacement_reason": "because",
        "overwrite_agreement_ref": None,
        "cause": "Cap",
        "name": "acknowledgment.csv",
        "mark": "a mark",
        "stop_point": "before delivery",
        "delivery_key": f"key-{call.key}",
        "final_name": f"contacts-key-{call.key}.csv",
    }


def _found(call: Call) -> dict[str, Any]:
    status, attempt_id, attempt_count, authorized_at = call.found or (None,) * 4
    return {
        "found_status": status,
        "found_attempt_id": attempt_id,
        "found_attempt_count": attempt_count,
        "found_delivery_authorized_at": authorized_at,
    }
