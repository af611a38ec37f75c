"""Ways around the rules that a login with SQL would try first; each is refused by the server, as that login."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.states import Role
from tests.database.guarded import DENIED, refusal

if TYPE_CHECKING:
    from tests.database.conftest import Login

LOGINS = [role for role in Role if role is not Role.OWNER]
GENERATED_ALWAYS = "428C9"

FORBIDDEN = [
    "SET session_replication_role = replica",
    "ALTER TABLE export_jobs DISABLE TRIGGER tg_export_jobs_move",
    "ALTER TABLE export_jobs DISABLE TRIGGER ALL",
    "DROP TRIGGER tg_export_jobs_proof ON export_jobs",
    "ALTER TABLE export_jobs DROP CONSTRAINT ck_export_jobs_failure",
    "CREATE OR REPLACE FUNCTION export_jobs_move() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "ALTER FUNCTION export_jobs_move() SET search_path = pg_temp",
    "CREATE TABLE mine (id int)",
    "CREATE TEMPORARY TABLE outbox (job_id uuid)",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "TRUNCATE export_jobs CASCADE",
    "TRUNCATE outbox",
    "CREATE INDEX ON outbox (kind)",
    "CREATE RULE r AS ON INSERT TO outbox DO INSTEAD NOTHING",
    "CREATE POLICY p ON outbox USING (true)",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO '/tmp/escaped'",
    "SELECT pg_read_file('PG_VERSION')",
    "CREATE ROLE another",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "CREATE DATABASE another",
    "SELECT setval('export_attempt_events_id_seq', 1)",
    "SELECT nextval('export_attempt_events_id_seq')",
]


@pytest.mark.parametrize("role", LOGINS)
def test_nothing_that_would_undo_the_rules_is_permitted(login: Login, role: Role) -> None:
    session = login(role)
    session.execute("SET default_transaction_read_only = off")
    answers = {statement: refusal(session, statement) for statement in FORBIDDEN}
    assert answers == dict.fromkeys(FORBIDDEN, DENIED)


@pytest.mark.parametrize("other", [*Role, "postgres"])
@pytest.mark.parametrize("role", LOGINS)
def test_no_login_can_become_another(login: Login, role: Role, other: str) -> None:
    session = login(role)
    if role != other:
        assert refusal(session, f"SET ROLE {other}") == DENIED
        assert refusal(session, f"SET SESSION AUTHORIZATION {other}") == DENIED
    assert session.execute("SELECT current_user, session_user").fetchone() == (role, role)


@pytest.mark.parametrize("role", [Role.WORKER, Role.ACKNOWLEDGER, Role.RECONCILER])
@pytest.mark.parametrize("overriding", ["OVERRIDING SYSTEM VALUE", "OVERRIDING USER VALUE", ""])
def test_no_login_forges_an_events_identity(login: Login, role: Role, overriding: str) -> None:
    columns = "(id, job_id, attempt_id, kind, recorded_at)"
    values = "(1, gen_random_uuid(), gen_random_uuid(), 'DeliveryEvidence', now())"
    statement = f"INSERT INTO export_attempt_events {columns} {overriding} VALUES {values}"
    assert refusal(login(role), statement) == (DENIED if overriding else GENERATED_ALWAYS)


@pytest.mark.parametrize("table", ["terms_changes", "export_rejections"])
@pytest.mark.parametrize("role", LOGINS)
def test_no_login_forges_the_identity_of_a_companion(login: Login, role: Role, table: str) -> None:
    session = login(role)
    session.execute("SET default_transaction_read_only = off")
    assert refusal(session, f"INSERT INTO {table} (id) OVERRIDING SYSTEM VALUE VALUES (1)") == DENIED


@pytest.mark.parametrize("column", ["recorded_at"])
def test_the_api_does_not_choose_when_a_click_was_recorded(login: Login, column: str) -> None:
    statement = f"INSERT INTO cancellation_requests ({column}) VALUES (now())"
    assert refusal(login(Role.API), statement) == DENIED


def test_the_api_can_do_nothing_that_is_the_reconcilers(login: Login) -> None:
    session = login(Role.API)
    assert refusal(session, "UPDATE export_jobs SET failure_reason = NULL") == DENIED
    assert refusal(session, "INSERT INTO export_attempt_events (kind) VALUES ('Reconciled')") == DENIED
    assert refusal(session, "INSERT INTO export_attempt_events (kind) VALUES ('DeliveryEvidence')") == DENIED


def test_the_dispatcher_sees_of_an_export_only_whose_it_is_and_where_it_goes(login: Login) -> None:
    session = login(Role.DISPATCHER)
    assert refusal(session, "SELECT id, tenant_id, destination_id FROM export_jobs") == ""
    assert refusal(session, "SELECT status FROM export_jobs") == DENIED
    assert refusal(session, "SELECT * FROM export_jobs") == DENIED


def test_the_auditors_transactions_are_read_only(login: Login) -> None:
    assert refusal(login(Role.AUDITOR), "CREATE TEMPORARY TABLE t (id int)") == "25006"


def test_a_statement_cannot_be_bent_by_a_table_in_front(login: Login) -> None:
    session = login(Role.WORKER)
    session.execute("SET search_path = pg_temp, public")
    assert refusal(session, "CREATE TEMPORARY TABLE export_attempt_events (job_id uuid)") == DENIED
