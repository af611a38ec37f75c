"""Locks and clocks of cutoff 2: what it waits for, in which order, and what it believes afterwards.

Beside each schedule stands the statement as one would write it first, and the schedule breaks it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from exports.sql import STATEMENTS
from exports.states import Role
from tests.interleavings.acting import Action, compose
from tests.interleavings.doing import actions_on
from tests.interleavings.harness import Scenario, expect_all, explore
from tests.interleavings.starting import FAMILIES, LAPSING, Family
from tests.interleavings.world import ORIGINAL, REPLACEMENT, uid

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench
    from tests.interleavings.sessions import Session

# The obvious cutoff 2: one update under one condition. Its clock is read before it waits for the row.
OBVIOUS = """
WITH authorized AS (
    UPDATE export_jobs
    SET status = 'Delivering', expected_file_name = %(final_name)s::text, expected_file_bytes = %(file_bytes)s::bigint,
        expected_file_sha256 = %(file_sha256)s::bytea, delivery_authorized_at = clock_timestamp()
    WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Running'
      AND stop_request_id IS NULL AND lease_expires_at > clock_timestamp()
    RETURNING id, attempt_id, delivery_authorized_at),
event AS (
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)
    SELECT id, attempt_id, 'DeliveryAuthorized', %(final_name)s::text, delivery_authorized_at FROM authorized)
SELECT coalesce((SELECT 'Authorized' FROM authorized), 'LeaseLapsed') AS word
"""
EARLY_CLOCK = STATEMENTS["authorize_delivery"].text.replace(
    "stop_request_id, lease_expires_at, replaces_job_id\n",
    "stop_request_id, lease_expires_at, replaces_job_id, clock_timestamp() AS read_at\n",
)
EARLY_CLOCK = EARLY_CLOCK.replace("clock_timestamp() AS judged_at", "read_at AS judged_at")
"""Ours, but with the clock read under the first lock: early for a replacement, that has to wait for a second one."""

HOLDERS = [
    ("running", "cancel"),
    ("running", "renew_lease"),
    ("running", "requeue"),
    ("replacement", "cancel (original)"),
    ("replacement", "reconcile as Failed (original)"),
    ("replacement", "reconcile as Completed (original)"),
]


def _action(family: Family, name: str) -> Action:
    return next(action for action in actions_on(family) if action.name == name)


def _against_cutoff_2(state: str, holder: str, text: str | None = None) -> Scenario:
    family = LAPSING[state]
    authorize = _action(family, "authorize_delivery" if family.other is None else "authorize_delivery (replacement)")
    login = Role.OWNER if text else None  # an obvious statement as the owner, so that no trigger stands in for it
    texts = {"authorize_delivery": text} if text else {}
    return Scenario(family, (_action(family, holder), authorize), texts, login, lapses=True)


@pytest.mark.parametrize(("state", "holder"), HOLDERS)
def test_a_lease_that_lapses_while_cutoff_2_waits_authorizes_nothing(bench: Bench, state: str, holder: str) -> None:
    expect_all(bench, _against_cutoff_2(state, holder), "lapsing")


@pytest.mark.parametrize(
    ("state", "holder", "text"),
    [
        ("running", "cancel", OBVIOUS),
        ("running", "renew_lease", OBVIOUS),
        ("replacement", "cancel (original)", EARLY_CLOCK),
        ("replacement", "reconcile as Failed (original)", EARLY_CLOCK),
    ],
)
def test_control_a_clock_read_before_the_last_lock_authorizes_on_a_lapsed_lease(
    bench: Bench, state: str, holder: str, text: str
) -> None:
    outcomes = list(explore(bench, _against_cutoff_2(state, holder, text)))
    broken = [line for outcome in outcomes for line in outcome.broken]
    assert any("no_delivery_on_a_lapsed_lease" in line for line in broken)
    bench.tally["lapsing: controls with an early clock"] += 1


FROZEN_LATER = "INSERT INTO holds (id, cause, reason, created_by) VALUES (gen_random_uuid(), 'Frozen', 'stop', 'anna')"


def test_a_freeze_that_commits_while_cutoff_2_waits_is_obeyed(bench: Bench) -> None:
    holder, worker = bench.session(0, Role.API), bench.session(1, Role.WORKER)
    family = FAMILIES["running"]
    bench.lay_out(family)
    holder.do(f"BEGIN; {_composed(holder, family, 'cancel', 'lock_for_cancellation')}")
    worker.send(_composed(worker, family, "authorize_delivery"))
    assert bench.blockers_of(worker) == {holder.pid}
    bench.owner.do(FROZEN_LATER)
    holder.do("ROLLBACK")
    assert bench.answer_of(worker).rows == [("Frozen",)]


def _composed(session: Session, family: Family, name: str, statement: str = "") -> str:
    action = _action(family, name)
    return compose(session, STATEMENTS[statement or action.program].text, action.call, 0)


LOCK = "SELECT id FROM export_jobs WHERE id = '{}' FOR NO KEY UPDATE"
# Cutoff 2 with its locks the other way round: the original, then the row.
REVERSED = f"""
WITH original AS MATERIALIZED (SELECT id FROM export_jobs WHERE id = '{uid(ORIGINAL)}' FOR SHARE)
SELECT j.id FROM original, export_jobs j WHERE j.id = '{uid(REPLACEMENT)}' FOR NO KEY UPDATE OF j
"""
CORRECTION = "correct Failed to Completed (original)"
DEADLOCK = "40P01"


class Form:
    """A correction that also holds the replacement it may have to name, and a cutoff 2 of that replacement."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.family = FAMILIES["replacement of an original not delivered: running"]
        self.reconciler, self.worker = bench.session(0, Role.RECONCILER), bench.session(1, Role.WORKER)
        bench.lay_out(self.family)
        self.lock = LOCK.format(uid(REPLACEMENT))
        self.correct = _composed(self.reconciler, self.family, CORRECTION)
        self.authorize = _composed(self.worker, self.family, "authorize_delivery (replacement)")

    def run(self, first: str, cutoff_2: str, second: str) -> list[str | None]:
        """Run the form's first step, cutoff 2, then the form's second step; return how each of the two ended."""
        self.reconciler.do(f"BEGIN; {first}")
        self.worker.send(cutoff_2)
        assert self.bench.blockers_of(self.worker) == {self.reconciler.pid}
        self.reconciler.send(second)
        ends = [self.bench.answer_of(self.reconciler)]
        self.reconciler.do("COMMIT")
        ends.append(self.bench.answer_of(self.worker))
        return [end.sqlstate or (end.rows[0][0] if end.rows else None) for end in ends]


def test_the_replacement_first_and_its_original_second_never_deadlocks(bench: Bench) -> None:
    form = Form(bench)
    corrected, word = form.run(form.lock, form.authorize, form.correct)
    assert corrected == str(uid("original.1"))
    assert word == "OriginalCompleted"


def test_control_a_form_that_takes_the_original_first_deadlocks_with_cutoff_2(bench: Bench) -> None:
    form = Form(bench)
    assert DEADLOCK in form.run(form.correct, form.authorize, form.lock)


def test_control_a_cutoff_2_that_takes_the_original_first_deadlocks_with_the_form(bench: Bench) -> None:
    form = Form(bench)
    assert DEADLOCK in form.run(form.lock, REVERSED, form.correct)


def test_the_clock_of_the_control_is_read_under_the_first_lock() -> None:
    assert "read_at AS judged_at" in EARLY_CLOCK
    assert EARLY_CLOCK.count("clock_timestamp()") == 1
    assert replace(STATEMENTS["authorize_delivery"], text=EARLY_CLOCK) != STATEMENTS["authorize_delivery"]
