"""Every registered statement prepares, is permitted to its header's login, and does in every state what it says."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import reconciliation.sql
from exports.sql import STATEMENTS
from exports.states import Role
from tests.database.cases import APPLIED, CASES, NO_EXPORT, REFUSED, TAKEN, Case, bound
from tests.database.guarded import DENIED, Sandbox, refusal
from tests.database.starting import Row, job
from tests.database.starts import STARTS, distinct

if TYPE_CHECKING:
    from tests.database.conftest import Login

assert reconciliation.sql  # registers its statements

PERMITTED_TO_OTHERS = {
    ("lock_for_cancellation", Role.WORKER),
    ("lock_for_cancellation", Role.ACKNOWLEDGER),
    ("lock_for_cancellation", Role.RECONCILER),
    *(("lock_gate", role) for role in Role),
    ("open_hold", Role.API),
    ("reconcile", Role.WORKER),
    ("correct", Role.WORKER),
    ("wake_waiting", Role.API),
    ("complete_acknowledged", Role.WORKER),
    ("complete_acknowledged", Role.RECONCILER),
}
"""What grants cannot part: who may lock a row it writes may read it, too; and where only the trigger refuses."""

SPOKEN = {"authorize_delivery"}
"""Statements that answer with one word, and always with one row."""


def numbered(text: str) -> tuple[str, list[str]]:
    """Rewrite named parameters as $1, $2, … as PREPARE wants them, and return their names in order."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return re.sub(r"%\((\w+)\)s", number, text), names


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_prepares_and_is_permitted_to_its_headers_logins(resident: Login, name: str, role: Role) -> None:
    session = resident(role)
    text, names = numbered(STATEMENTS[name].text)
    session.execute(f"PREPARE tried AS {text}")
    try:
        nulls = f"({', '.join(['NULL'] * len(names))})" if names else ""
        denied = refusal(session, f"EXPLAIN EXECUTE tried{nulls}") == DENIED
    finally:
        session.execute("DEALLOCATE tried")
    permitted = role in STATEMENTS[name].roles or (name, role) in PERMITTED_TO_OTHERS
    assert denied is not permitted


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_types_every_parameter_and_has_no_bare_percent_sign(name: str) -> None:
    text = STATEMENTS[name].text
    assert not re.search(r"%(?!\(\w+\)s)", text)
    assert not re.search(r"%\(\w+\)s(?!::)", text)


def test_every_statement_has_a_case_or_a_reason() -> None:
    assert {case.statement for case in CASES} | NO_EXPORT.keys() == STATEMENTS.keys()
    assert not {case.statement for case in CASES} & NO_EXPORT.keys()


PICTURE = """
SELECT (SELECT string_agg(j::text, ' ' ORDER BY id) FROM export_jobs j),
       (SELECT count(*) FROM export_attempt_events),
       ARRAY[(SELECT count(*) FROM outbox), (SELECT count(*) FROM export_rejections),
             (SELECT count(*) FROM terms_changes), (SELECT count(*) FROM creation_requests),
             (SELECT count(*) FROM deliveries), (SELECT count(*) FROM authorized_files),
             (SELECT count(*) FROM acknowledgments_seen)]
"""


class World:
    """One state in the sandbox, and what a statement did to it."""

    def __init__(self, sandbox: Sandbox, rows: list[Row]) -> None:
        self.sandbox = sandbox
        self.rows = rows
        self.row = rows[-1]
        self.destination_id = self._destination(self.row["tenant_id"])
        sandbox.seed(*distinct(rows))
        self.before = self._picture()

    def _destination(self, tenant_id: uuid.UUID) -> uuid.UUID:
        """Make the row's tenant and its own destination, so that the waker finds it and an edit may lead there."""
        execute = self.sandbox.connection.execute
        execute("INSERT INTO tenants VALUES (%s, %s, 'a tenant', true)", [tenant_id, str(tenant_id)[:8]])
        execute(
            "INSERT INTO destinations (id, tenant_id, name, is_enabled) VALUES (%s, %s, 'a partner', true)",
            [self.row["destination_id"], tenant_id],
        )
        found: uuid.UUID = self.row["destination_id"]
        return found

    def _picture(self) -> dict[str, Any]:
        row = self.sandbox.connection.execute(PICTURE).fetchone()
        assert row is not None
        return dict(zip(("jobs", "events", "others"), row, strict=True))

    def run(self, case: Case, **changes: Any) -> str:
        """Run the statement as its login, undo it, and return what it answered, checked against what it did."""
        name = case.statement
        try:
            with self.sandbox.connection.transaction(force_rollback=True):
                self.sandbox.become(STATEMENTS[name].roles[0])
                parameters = bound(case, self.row, self.destination_id) | changes
                rows = self.sandbox.connection.execute(STATEMENTS[name].text, parameters).fetchall()
                if case.proven:
                    self.sandbox.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                self.sandbox.become("postgres")
                return self._judged(case, rows)
        except psycopg.Error as error:
            return str(error.sqlstate)

    def _judged(self, case: Case, rows: list[Any]) -> str:
        answer = str(rows[0][0]) if case.statement in SPOKEN else APPLIED if rows else REFUSED
        after = self._picture()
        if answer in {APPLIED, "Authorized"}:
            written = after["events"] - self.before["events"]
            assert written == case.events, f"{case.title}: {written} events"
        else:
            assert after == self.before, f"{case.title}: refused, and yet something was written"
        return answer


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_a_statement_applies_in_the_states_of_its_guard_and_changes_nothing_in_others(
    sandbox: Sandbox, case: Case
) -> None:
    answers, expected = {}, {}
    for name, start in STARTS.items():
        with sandbox.connection.transaction(force_rollback=True):
            world = World(sandbox, start())
            answers[name] = world.run(case)
            expected[name] = case.answer(world.row, world.rows)
    assert answers == expected


ATTEMPT = {"attempt_id", "expired_attempt_id"}
FENCED = [case for case in CASES if STATEMENTS[case.statement].parameters & ATTEMPT and case.statement != "claim"]
"""All that name an attempt, but the claim, which brings its own."""
TENANTED = [case for case in CASES if "tenant_id" in STATEMENTS[case.statement].parameters]


@pytest.mark.parametrize("case", FENCED, ids=[case.title for case in FENCED])
def test_a_statement_of_another_attempt_changes_nothing_anywhere(sandbox: Sandbox, case: Case) -> None:
    for start in STARTS.values():
        answer = World(sandbox, start()).run(case, attempt_id=uuid.uuid4(), expired_attempt_id=uuid.uuid4())
        assert answer == ("NotOwner" if case.statement in SPOKEN else REFUSED)


@pytest.mark.parametrize("case", TENANTED, ids=[case.title for case in TENANTED])
def test_a_statement_of_another_tenant_changes_nothing_anywhere(sandbox: Sandbox, case: Case) -> None:
    for start in STARTS.values():
        assert World(sandbox, start()).run(case, tenant_id=uuid.uuid4()) == REFUSED


def _case(statement: str) -> Case:
    return next(case for case in CASES if case.statement == statement)


@pytest.mark.parametrize("enabled", [True, False])
def test_terms_lead_only_to_an_enabled_destination_of_the_tenant(sandbox: Sandbox, enabled: bool) -> None:  # noqa: FBT001 - a parameter
    other, world = (World(sandbox, STARTS["queued"]()) for _ in range(2))
    assert world.run(_case("change_terms"), destination_id=other.destination_id) == REFUSED
    sandbox.connection.execute("UPDATE destinations SET is_enabled = %s", [enabled])
    assert world.run(_case("change_terms")) == (APPLIED if enabled else REFUSED)


def test_a_correction_by_who_reconciled_it_needs_permission(sandbox: Sandbox) -> None:
    world = World(sandbox, STARTS["completed"]())
    sandbox.become(Role.OWNER)
    sandbox.connection.execute(
        "INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, recorded_at)"
        " VALUES (%s, %s, 'Reconciled', 'user:cor', now())",
        [world.row["id"], world.row["attempt_id"]],
    )
    sandbox.become("postgres")
    world.before = world._picture()
    assert world.run(_case("correct")) == REFUSED
    assert world.run(_case("correct"), allow_same_person=True) == APPLIED
    assert world.run(_case("correct"), corrected_by="user:another") == APPLIED


@pytest.mark.parametrize("taken", ["job_id", "delivery_key"])
def test_creation_writes_nothing_when_its_id_or_key_is_taken(sandbox: Sandbox, taken: str) -> None:
    world = World(sandbox, STARTS["queued"]())
    fresh = job(world.row["status"], tenant_id=world.row["tenant_id"])
    wanted = {"job_id": fresh["id"], "delivery_key": fresh["delivery_key"], "created_by": "client:crm"}
    case = Case("create_export", lambda _row, _rows: APPLIED)
    assert world.run(case, **wanted) == APPLIED
    assert world.run(case, **wanted | {taken: world.row["id" if taken == "job_id" else "delivery_key"]}) == TAKEN


def test_a_wake_up_is_taken_and_marked_once(sandbox: Sandbox) -> None:
    world = World(sandbox, STARTS["queued"]())
    message_id = uuid.uuid4()
    insert = "INSERT INTO outbox (message_id, kind, job_id, created_at) VALUES (%s, 'ExportReady', %s, now())"
    sandbox.connection.execute(insert, [message_id, world.row["id"]])
    sandbox.become(Role.DISPATCHER)
    execute = sandbox.connection.execute
    batch = {"batch": 10, "after_tenant": uuid.UUID(int=0)}
    mark = {"message_ids": [message_id, uuid.uuid4()]}
    assert execute(STATEMENTS["take_outbox"].text, batch).fetchall() == [
        (message_id, world.row["id"], uuid.UUID(int=0))
    ]
    assert execute(STATEMENTS["mark_published"].text, mark).fetchall() == [(message_id,)]
    assert execute(STATEMENTS["mark_published"].text, mark).fetchall() == []
    assert execute(STATEMENTS["take_outbox"].text, batch).fetchall() == []
