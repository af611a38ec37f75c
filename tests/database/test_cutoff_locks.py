"""Cutoff 2 judges its lease after every lock it needs is held, whoever held them and however they let go (I4).

Each schedule runs as a custom and as a generic plan, and beside each stands the same schedule with the guard
written the obvious way, which authorizes on a lapsed lease or refuses a current one: the race is real.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from exports.sql import STATEMENTS
from exports.states import Role, Status
from tests.database.guarded import CONDITION
from tests.database.starting import Row, ago, insert, job, replacement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.database.conftest import Login

pytestmark = pytest.mark.usefixtures("clean")

_BOUND_SECONDS = 20  # a block shows within milliseconds; twenty seconds on a machine that does much else
_LEASE = timedelta(seconds=1.5)  # long enough to be blocked before it lapses, short enough to wait for
_PLANS = ["force_custom_plan", "force_generic_plan"]

# The guard as one would write it first: the clock stands in the update's own condition.
OBVIOUS = """
WITH authorized AS (
    UPDATE export_jobs
    SET status = 'Delivering', expected_file_name = %(final_name)s::text, expected_file_bytes = %(file_bytes)s::bigint,
        expected_file_sha256 = %(file_sha256)s::bytea, delivery_authorized_at = clock_timestamp()
    WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Running'
      AND stop_request_id IS NULL AND lease_expires_at > clock_timestamp()
    RETURNING id, attempt_id, delivery_authorized_at),
event AS (
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at)
    SELECT id, attempt_id, 'DeliveryAuthorized', delivery_authorized_at FROM authorized)
SELECT coalesce((SELECT 'Authorized' FROM authorized), 'LeaseLapsed')
"""


class Waiting:
    """A statement in a thread of its own, so that the test goes on while it waits for a lock."""

    def __init__(self, session: psycopg.Connection[Any], statement: str, parameters: dict[str, Any]) -> None:
        self.session = session
        self.answer: Any = None
        self._call = (statement, parameters)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            rows = self.session.execute(*self._call, prepare=True).fetchall()
            self.answer = rows[0][0] if rows else None
        except psycopg.Error as error:
            self.answer = error.sqlstate

    def blocked_by(self, holder: psycopg.Connection[Any], witness: psycopg.Connection[Any]) -> None:
        """Return once the server says that it waits for `holder`; fail when it does not."""
        query = "SELECT %s = ANY(pg_blocking_pids(%s))"
        pids = [holder.info.backend_pid, self.session.info.backend_pid]
        until(lambda: witness.execute(query, pids).fetchone() == (True,))

    def result(self) -> Any:
        self._thread.join(_BOUND_SECONDS)
        assert not self._thread.is_alive(), "the statement still waits"
        return self.answer


def until(true: Any) -> None:
    """Ask again and again, within a bound."""
    deadline = time.monotonic() + _BOUND_SECONDS
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.005)  # between two questions; what is waited for is always seen, never assumed


class Stage:
    """Real sessions on one Running export whose lease lapses soon."""

    answer: Any = None

    def __init__(self, login: Login, plan: str, *, original: Status | None = None) -> None:
        self.owner, self.worker = login(Role.OWNER), login(Role.WORKER)
        self.worker.execute(f"SET plan_cache_mode = {plan}")
        self.lapses = datetime.now(UTC) + _LEASE
        first = job(original or Status.RUNNING, lease_expires_at=self.lapses if original is None else None)
        self.rows = [first, replacement(first, Status.RUNNING, lease_expires_at=self.lapses)] if original else [first]
        with self.owner.transaction():
            for row in self.rows:
                insert(self.owner, row)

    @property
    def row(self) -> Row:
        return self.rows[-1]

    def authorize(self, statement: str = "") -> Waiting:
        parameters = {
            "job_id": self.row["id"],
            "attempt_id": self.row["attempt_id"],
            "final_name": "f",
            "file_bytes": 1,
            "file_rows": 1,
            "file_sha256": b"h",
        }
        return Waiting(self.worker, statement or STATEMENTS["authorize_delivery"].text, parameters)

    def lapse(self) -> None:
        """Wait until the lease in the committed row has lapsed by the database's clock."""
        query = "SELECT clock_timestamp() > %s"
        until(lambda: self.owner.execute(query, [self.lapses]).fetchone() == (True,))

    def status(self) -> str:
        row = self.owner.execute("SELECT status FROM export_jobs WHERE id = %s", [self.row["id"]]).fetchone()
        assert row is not None
        return str(row[0])


def lock(session: psycopg.Connection[Any], row: Row) -> None:
    """Take the row as a cancellation does, and change nothing."""
    parameters = {"tenant_id": row["tenant_id"], "job_id": row["id"]}
    session.execute(STATEMENTS["lock_for_cancellation"].text, parameters)


@pytest.fixture(params=_PLANS)
def plan(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_lease_that_lapses_while_a_cancellation_holds_the_row_authorizes_nothing(login: Login, plan: str) -> None:
    stage, holder = Stage(login, plan), login(Role.API)
    with holder.transaction():
        lock(holder, stage.row)
        waiting = stage.authorize()
        waiting.blocked_by(holder, stage.owner)
        stage.lapse()
    assert waiting.result() == "LeaseLapsed"
    assert stage.status() == Status.RUNNING


def test_control_the_obvious_guard_authorizes_on_a_lapsed_lease(login: Login, plan: str) -> None:
    stage, holder = Stage(login, plan), login(Role.API)
    with holder.transaction():
        lock(holder, stage.row)
        waiting = stage.authorize(OBVIOUS)
        waiting.blocked_by(holder, stage.owner)
        stage.lapse()
    assert waiting.result() == "Authorized"
    assert stage.status() == Status.DELIVERING


def test_a_holder_that_rolls_back_after_the_lease_lapsed_authorizes_nothing(login: Login, plan: str) -> None:
    stage, keeper = Stage(login, plan), login(Role.WORKER)
    with keeper.transaction(force_rollback=True):
        renew(keeper, stage.row)
        waiting = stage.authorize()
        waiting.blocked_by(keeper, stage.owner)
        stage.lapse()
    assert waiting.result() == "LeaseLapsed"
    assert stage.status() == Status.RUNNING


def test_control_the_obvious_guard_authorizes_after_an_aborted_renewal(login: Login, plan: str) -> None:
    stage, keeper = Stage(login, plan), login(Role.WORKER)
    with keeper.transaction(force_rollback=True):
        renew(keeper, stage.row)
        waiting = stage.authorize(OBVIOUS)
        waiting.blocked_by(keeper, stage.owner)
        stage.lapse()
    assert waiting.result() == "Authorized"


def renew(session: psycopg.Connection[Any], row: Row) -> None:
    parameters = {"job_id": row["id"], "attempt_id": row["attempt_id"], "lease_seconds": 60}
    session.execute(STATEMENTS["renew_lease"].text, parameters)


def test_a_lease_just_extended_by_the_holder_authorizes(login: Login, plan: str) -> None:
    stage, keeper = Stage(login, plan), login(Role.WORKER)
    with keeper.transaction():
        renew(keeper, stage.row)
        waiting = stage.authorize()
        waiting.blocked_by(keeper, stage.owner)
        stage.lapse()
    assert waiting.result() == "Authorized"
    assert stage.status() == Status.DELIVERING


def test_a_lease_that_lapses_while_the_original_is_held_authorizes_nothing(login: Login, plan: str) -> None:
    stage, holder = Stage(login, plan, original=Status.OUTCOME_UNKNOWN), login(Role.RECONCILER)
    with holder.transaction():
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [stage.rows[0]["id"]])
        waiting = stage.authorize()
        waiting.blocked_by(holder, stage.owner)
        stage.lapse()
    assert waiting.result() == "LeaseLapsed"
    assert stage.status() == Status.RUNNING


# Locking one's own row first is not enough, when the clock is read before the wait for the original.
OWN_ROW_FIRST = """
WITH locked AS MATERIALIZED (
    SELECT id, tenant_id, replaces_job_id FROM export_jobs
    WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Running'
      AND lease_expires_at > clock_timestamp()
    FOR NO KEY UPDATE),
original AS MATERIALIZED (
    SELECT o.status FROM locked JOIN export_jobs o ON o.id = locked.replaces_job_id FOR SHARE OF o),
authorized AS (
    UPDATE export_jobs j
    SET status = 'Delivering', expected_file_name = %(final_name)s::text, expected_file_bytes = %(file_bytes)s::bigint,
        expected_file_sha256 = %(file_sha256)s::bytea, delivery_authorized_at = clock_timestamp()
    FROM locked LEFT JOIN original ON true
    WHERE j.id = locked.id AND original.status IS DISTINCT FROM 'Completed'
    RETURNING j.id, j.attempt_id, j.delivery_authorized_at),
event AS (
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at)
    SELECT id, attempt_id, 'DeliveryAuthorized', delivery_authorized_at FROM authorized)
SELECT coalesce((SELECT 'Authorized' FROM authorized), 'LeaseLapsed')
"""


@pytest.fixture
def unguarded(login: Login) -> Iterator[None]:
    owner = login(Role.OWNER)
    owner.execute("ALTER TABLE export_jobs DISABLE TRIGGER tg_export_jobs_move")
    yield
    owner.execute("ALTER TABLE export_jobs ENABLE TRIGGER tg_export_jobs_move")


def _own_row_first(login: Login, plan: str) -> Stage:
    stage, holder = Stage(login, plan, original=Status.OUTCOME_UNKNOWN), login(Role.RECONCILER)
    with holder.transaction():
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR UPDATE", [stage.rows[0]["id"]])
        waiting = stage.authorize(OWN_ROW_FIRST)
        waiting.blocked_by(holder, stage.owner)
        stage.lapse()
    stage.answer = waiting.result()
    return stage


@pytest.mark.usefixtures("unguarded")
def test_control_a_clock_before_the_last_lock_authorizes_on_a_lapsed_lease(login: Login, plan: str) -> None:
    stage = _own_row_first(login, plan)
    assert (stage.answer, stage.status()) == ("Authorized", Status.DELIVERING)


def test_the_guard_refuses_what_such_a_statement_would_do(login: Login, plan: str) -> None:
    stage = _own_row_first(login, plan)
    assert (stage.answer, stage.status()) == (CONDITION, Status.RUNNING)


def correct_to_completed(session: psycopg.Connection[Any], row: Row) -> Any:
    return session.execute(STATEMENTS["correct"].text, _correction(row)).fetchone()


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
def test_a_correction_of_the_original_is_waited_for_and_then_believed(login: Login, plan: str, commits: bool) -> None:  # noqa: FBT001 - a parameter
    stage, person = Stage(login, plan, original=Status.FAILED), login(Role.RECONCILER)
    with person.transaction(force_rollback=not commits):
        assert correct_to_completed(person, stage.rows[0])
        waiting = stage.authorize()
        waiting.blocked_by(person, stage.owner)
    assert waiting.result() == ("OriginalCompleted" if commits else "Authorized")


def test_an_authorization_that_is_first_makes_the_correction_wait(login: Login, plan: str) -> None:
    stage, person = Stage(login, plan, original=Status.FAILED), login(Role.RECONCILER)
    with stage.worker.transaction():
        assert stage.authorize().result() == "Authorized"
        waiting = Waiting(person, STATEMENTS["correct"].text, _correction(stage.rows[0]))
        waiting.blocked_by(stage.worker, stage.owner)
    assert waiting.result() == stage.rows[0]["attempt_id"]
    assert stage.status() == Status.DELIVERING


def _correction(row: Row) -> dict[str, Any]:
    return {
        "tenant_id": row["tenant_id"],
        "job_id": row["id"],
        "attempt_id": row["attempt_id"],
        "recorded_status": "Failed",
        "corrected_status": "Completed",
        "failure_reason": None,
        "allow_same_person": True,
        "corrected_by": "user:rec",
        "evidence_ref": "receipt",
        "reason": "found",
    }


def test_a_stop_request_that_commits_first_is_the_answer(login: Login, plan: str) -> None:
    stage, person = Stage(login, plan), login(Role.API)
    request_id = uuid.uuid4()
    names = {"tenant_id": stage.row["tenant_id"], "job_id": stage.row["id"], "request_id": request_id}
    with person.transaction():
        lock(person, stage.row)
        person.execute(STATEMENTS["request_stop"].text, names)
        waiting = stage.authorize()
        waiting.blocked_by(person, stage.owner)
        person.execute(STATEMENTS["record_cancellation"].text, names | _click(stage.row))
    assert waiting.result() == "StopRecorded"
    assert stage.status() == Status.RUNNING


def _click(row: Row) -> dict[str, Any]:
    return {
        "requested_by": "user:ann",
        "reason": None,
        "outcome": "StopRequested",
        "found_status": "Running",
        "found_attempt_id": row["attempt_id"],
        "found_attempt_count": 1,
        "found_delivery_authorized_at": None,
    }


def test_a_takeover_that_commits_first_leaves_no_owner(login: Login, plan: str) -> None:
    stage, recovery = Stage(login, plan), login(Role.WORKER)
    stage.lapse()
    names = {"job_id": stage.row["id"], "expired_attempt_id": stage.row["attempt_id"], "max_attempts": 5}
    with recovery.transaction():
        recovery.execute(STATEMENTS["requeue"].text, names | {"recovery_run_id": "run"})
        waiting = stage.authorize()
        waiting.blocked_by(recovery, stage.owner)
    assert waiting.result() == "NotOwner"


def test_the_locks_are_taken_in_one_order_whatever_the_plan(login: Login, plan: str) -> None:
    """The original is locked by nobody while its replacement's row is waited for (correction 3)."""
    stage, holder = Stage(login, plan, original=Status.FAILED), login(Role.API)
    with holder.transaction():
        lock(holder, stage.row)
        waiting = stage.authorize()
        waiting.blocked_by(holder, stage.owner)
        person = login(Role.RECONCILER)
        person.execute("SET lock_timeout = '1s'")
        assert correct_to_completed(person, stage.rows[0]) is not None
    assert waiting.result() == "OriginalCompleted"


def test_a_refused_moment_leaves_the_row_exactly_as_it_was(login: Login, plan: str) -> None:
    stage = Stage(login, plan)
    stage.lapse()
    picture = "SELECT j::text, xmin::text FROM export_jobs j WHERE id = %s"
    before = stage.owner.execute(picture, [stage.row["id"]]).fetchone()
    assert stage.authorize().result() == "LeaseLapsed"
    assert stage.owner.execute(picture, [stage.row["id"]]).fetchone() == before


def test_the_recorded_moment_is_the_one_that_was_judged(login: Login, plan: str) -> None:
    stage = Stage(login, plan)
    asked = ago()
    assert stage.authorize().result() == "Authorized"
    query = (
        "SELECT delivery_authorized_at, lease_expires_at, recorded_at FROM export_jobs j"
        " JOIN export_attempt_events e ON e.job_id = j.id AND kind = 'DeliveryAuthorized' WHERE j.id = %s"
    )
    row = stage.owner.execute(query, [stage.row["id"]]).fetchone()
    assert row is not None
    assert asked <= row[0] < row[1]
    assert row[2] == row[0]
