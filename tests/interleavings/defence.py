"""Conditions whose absence no schedule shows: defence in depth, each with what stands behind it.

A condition in this list that a schedule does show, or that no statement has any more, is an entry to be removed.
"""

from __future__ import annotations

ATTEMPTS = "an attempt's id is minted once, and the condition on it finds the one export that ever had it"
TENANTS = "an export's id is unique among all tenants, and what stands before has asked for the tenant's own"
UNDER_LOCK = "the locking read holds the row, and the caller has decided by what it found"
PLANNER = "the server computes such an expression once anyhow; written so as not to rest on that"
TURNS = "says whose turn it is, not what may be taken; tests/dispatcher/test_rounds.py shows it with many tenants"
RECHECKED = "the lock that was taken before has looked at the row's last version"

DEFENCE: dict[str, dict[str, str]] = {
    "authorize_delivery": {
        "id = %(job_id)s::uuid": "with a second row locked, the one word it answers with is refused as two",
        "o.tenant_id = locked.tenant_id": "a foreign key lets a replacement name only an original of its own tenant",
        "o.id = locked.replaces_job_id": "with a second original, the one word it answers with is refused as two",
        "MATERIALIZED locked": PLANNER,
        "MATERIALIZED original": PLANNER,
        "MATERIALIZED held": PLANNER,
        "MATERIALIZED judged": PLANNER,
    },
    "cancel_queued": {"tenant_id = %(tenant_id)s::uuid": TENANTS, "status = 'Queued'": UNDER_LOCK},
    "change_terms": {
        "j.tenant_id = %(tenant_id)s::uuid": "the update asks for the tenant again",
        "j.tenant_id = %(tenant_id)s::uuid (2)": "the row locked before is the tenant's",
        "FOR NO KEY UPDATE": "the update waits for the row itself, and any edit it waits for has changed the version",
    },
    "create_replacement": {
        "replaces_job_id IS NULL": "fk_export_jobs_replaces refuses the replacement of a replacement",
        "status = 'Failed'": "ck_export_jobs_failure lets no other status have a reason",
    },
    "finish_delivery": {"id = %(job_id)s::uuid": ATTEMPTS},
    "finish_failed": {"id = %(job_id)s::uuid": ATTEMPTS},
    "finish_stopped": {"id = %(job_id)s::uuid": ATTEMPTS},
    "mark_published": {"published_at IS NULL": "the rows are held since they were found unpublished"},
    "renew_lease": {"id = %(job_id)s::uuid": ATTEMPTS},
    "request_stop": {
        "tenant_id = %(tenant_id)s::uuid": TENANTS,
        "status = 'Running'": UNDER_LOCK,
        "stop_request_id IS NULL": UNDER_LOCK,
    },
    "return_lease": {"id = %(job_id)s::uuid": ATTEMPTS},
    "sweep": {"j.status = 'Queued' (2)": RECHECKED},
    "take_outbox": {
        "published_at IS NULL": TURNS,
        "tenant_id > %(after_tenant)s::uuid": TURNS,
        "published_at IS NULL (2)": TURNS,
        "tenant_id IS NOT NULL": TURNS,
        "published_at IS NULL (3)": TURNS,
        "tenant_id > turn.tenant_id": TURNS,
        "published_at IS NULL (4)": TURNS,
        "turn.place < %(batch)s::int": TURNS,
        "following.tenant_id <> first_tenant.tenant_id": TURNS,
        "tenant_id = turn.tenant_id": TURNS,
    },
    "wake_waiting": {"j.status = 'Queued' (2)": RECHECKED},
    "complete_acknowledged": {"j.id = %(job_id)s::uuid": ATTEMPTS, "e.job_id = j.id": ATTEMPTS},
    "correct": {
        "j.id = %(job_id)s::uuid": ATTEMPTS,
        "e.job_id = j.id": ATTEMPTS,
        "e.attempt_id = j.attempt_id": "only one attempt of an export passes cutoff 2, so only one is reconciled",
    },
    "exhaust": {
        "j.id = before.id": ATTEMPTS,
        "e.kind = 'RequeuedByRecovery'": "no other event has that word for its detail; evidence is JSON",
    },
    "reconcile": {"id = %(job_id)s::uuid": ATTEMPTS},
    "requeue": {
        "j.id = before.id": ATTEMPTS,
        "e.kind = 'RequeuedByRecovery'": "no other event has that word for its detail; evidence is JSON",
    },
    "resolve": {"id = %(job_id)s::uuid": ATTEMPTS},
    "stop_expired": {
        "id = %(job_id)s::uuid": ATTEMPTS,
        "status = 'Running'": "with a stop request and a lease a row can only be Running",
    },
}
"""Statement, condition, and what stands behind it."""
