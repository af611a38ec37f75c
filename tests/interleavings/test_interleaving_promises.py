"""Each promise can be broken: a violation planted by hand is found under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.interleavings.promises import PROMISES
from tests.interleavings.starting import FAMILIES
from tests.interleavings.world import ANNA, ORIGINAL, SUCCESSOR, uid

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench

JOB = f"'{uid(ORIGINAL)}'"
FIRST = f"'{uid('original.1')}'"
BEHIND = "replacement of an unknown original: "


def _told(statement: str, **values: Any) -> dict[str, Any]:
    told = {
        "session": "A",
        "program": statement,
        "statement": statement,
        "answer": "Applied",
        "applied": True,
        "ours": True,
        "handled": [],
        "returned": None,
        "job_id": str(uid(ORIGINAL)),
        "new_id": str(uid(SUCCESSOR)),
        "attempt_id": str(uid("original.1")),
        "destination_id": str(uid("first")),
        "version": 1,
        "judged": 0,
        "started_after": 0,
    }
    return told | values


def _set(changes: str, job: str = JOB) -> str:
    return f"UPDATE export_jobs SET {changes} WHERE id = {job}"


def _event(kind: str, detail: str = "", attempt: str = FIRST, moment: str = "clock_timestamp()", job: str = JOB) -> str:
    return (
        "INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, observed_by, recorded_at)"
        f" VALUES ({job}, {attempt}, '{kind}', '{detail}', '{ANNA}', {moment})"
    )


AUTHORIZED = (
    "status = 'Delivering', expected_file_name = 'f', expected_file_bytes = 1, expected_file_sha256 = 'h',"
    " delivery_authorized_at = clock_timestamp()"
)
SUCCEEDS = f"""
INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, delivery_key, created_by, woken_at,
                         replaces_job_id, replacement_reason)
SELECT '{uid(SUCCESSOR)}', tenant_id, 'Queued', 1, destination_id, delivery_key, 'anna', clock_timestamp(), id, 'why'
FROM export_jobs WHERE id = {JOB}
"""
EDITED = (
    "INSERT INTO terms_changes (job_id, version, from_destination_id, to_destination_id, changed_by)"
    " SELECT id, {version}, destination_id, '{to}', 'anna' FROM export_jobs WHERE id = {job}"
)
CLICKED = (
    "INSERT INTO cancellation_requests (tenant_id, id, job_id, requested_by, outcome, found_status,"
    f" found_attempt_count) SELECT tenant_id, gen_random_uuid(), id, 'anna', 'TooLate', 'Queued', 0"
    f" FROM export_jobs WHERE id = {JOB}"
)
Planted = tuple[str, str, list[dict[str, Any]]]

PLANTED: dict[str, Planted] = {
    "a_click_is_recorded": ("queued", "", [_told("cancel_queued")]),
    "a_delivery_keeps_its_lease": ("delivering", _set("lease_expires_at = 'epoch'"), []),
    "a_wake_up_is_published_once": ("queued, not published", "UPDATE outbox SET published_at = clock_timestamp()", []),
    "an_acknowledgment_is_seen_once": ("unknown", "", [_told("collect_acknowledgment")] * 2),
    "an_attempt_ends_once": ("stopped", _event("Failed"), []),
    "attempts_are_counted": ("running", _set("attempt_count = 2"), []),
    "authorization_is_proved": ("running", _set(AUTHORIZED), []),
    "born_whole": ("queued", f"DELETE FROM creation_requests WHERE job_id = {JOB}", []),
    "bystanders_are_untouched": ("queued", _set("sweep_count = 1"), []),
    "clicks_are_told_the_truth": ("queued", CLICKED, []),
    "columns_fit_the_status": ("running", _set("lease_expires_at = NULL"), []),
    "completed_on_what_was_judged": ("unknown", "", [_told("complete_acknowledged", judged=7)]),
    "corrected_as_recorded": (
        "completed",
        _event("Corrected", "Failed to Completed: x"),
        [_told("correct", recorded="Failed")],
    ),
    "corrected_by_another": ("completed, settled", _event("Corrected", "Completed to Failed: x"), []),
    "every_wake_up_has_its_cause": ("queued", f"DELETE FROM outbox WHERE job_id = {JOB}", []),
    "every_write_is_recorded_once": ("running", _event("Failed"), []),
    "evidence_is_of_the_attempt_named": ("queued", _event("DeliveryEvidence"), []),
    "failure_is_proved": ("build failed", _set("failure_reason = 'NotDelivered'"), []),
    "held_back_while_held": ("queued, its destination paused", "", [_told("sweep")]),
    "history_is_a_path": ("queued", _event("Finished", "Completed: x"), []),
    "no_delivery_after_a_stop": ("delivering", _set("stop_request_id = gen_random_uuid()"), []),
    "no_delivery_after_the_original": (
        f"{BEHIND}delivering",
        _event("Reconciled", "Completed: x", moment="clock_timestamp() - interval '20 days'"),
        [],
    ),
    "no_delivery_on_a_lapsed_lease": ("running, lapsed", _set(AUTHORIZED), [_told("authorize_delivery")]),
    "no_more_than_the_slots": (
        "running",
        _set("status = 'Running'", f"'{uid('other bystander')}'"),
        [_told("claim", program="claim a slot")],
    ),
    "nothing_leaves_while_frozen": ("running, everything frozen", _event("DeliveryAuthorized"), []),
    "one_replacement_at_a_time": (
        f"{BEHIND}queued",
        f"DROP INDEX uq_export_jobs_one_replacement; {SUCCEEDS}",
        [],
    ),
    "only_the_owner_is_told_so": ("running again", "", [_told("renew_lease")]),
    "queued_has_a_wake_up": ("queued", _set("woken_at = clock_timestamp()"), []),
    "replacement_of_what_may_be_replaced": ("completed", SUCCEEDS, [_told("create_replacement")]),
    "status_is_what_history_proves": ("running", _set("status = 'Stopped'"), []),
    "strangers_change_nothing": ("queued", "", [_told("reconcile", ours=False)]),
    "swept_only_when_due": ("queued", _set("sweep_count = 1"), []),
    "takeover_only_of_the_lapsed": ("running", _event("RequeuedByRecovery"), [_told("requeue")]),
    "takeover_within_the_cap": ("running, lapsed", _event("AttemptsExhausted"), []),
    "terms_are_allowed": ("queued", EDITED.format(version=2, to=uid("disabled"), job=JOB), []),
    "terms_are_recorded": ("queued", _set("version = 2"), []),
    "terms_are_those_asked_for": ("queued, edited", "", [_told("change_terms", version=2, returned="2")]),
    "what_never_changes": ("queued", _set("created_by = 'somebody else'"), []),
    "who_was_asked_to_stop_is_stopped": ("running, asked to stop", _event("AttemptsExhausted"), []),
    "work_is_on_evaluated_terms": ("running", _set("version = 2"), []),
}


def test_every_promise_has_a_planted_violation() -> None:
    assert {name.partition(" ")[2] for name in PROMISES} == PLANTED.keys()


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_found_by_its_name(bench: Bench, name: str) -> None:
    family, planted, told = PLANTED[name]
    bench.lay_out(FAMILIES[family])
    assert bench.judge([])[1] == []
    try:
        bench.owner.do(f"BEGIN; {planted or 'SELECT'}")
        _, broken = bench.judge(told)
    finally:
        bench.owner.do("ROLLBACK")
    assert any(f" {name}: " in line for line in broken), broken
