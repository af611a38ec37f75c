"""Role by table by verb, column by column: what the database grants is what is stated, tried as each login."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.apps import apps
from psycopg import sql

from exports import catalogue
from exports.grants import GRANTS, TABLES, WHOLE, Verb
from exports.states import Role
from tests.database.guarded import DENIED, STRANGER, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.database.conftest import Login
    from tests.database.guarded import Sandbox

LOGINS = [role for role in Role if role is not Role.OWNER]
FIVE = ("export_jobs", "deliveries", "export_attempt_events", "cancellation_requests", "outbox")
APPEND_ONLY = (
    "deliveries",
    "export_attempt_events",
    "cancellation_requests",
    "creation_requests",
    "terms_changes",
    "export_rejections",
    "authorized_files",
    "acknowledgments_seen",
    "destination_contracts",
    "contract_decisions",
    "overwrite_agreements",
    "probe_requests",
    "probe_runs",
    "probe_results",
)

# Stated here once more, by hand: who may write what to the five tables. A mistake in exports/grants.py that gave
# more would otherwise be expected by the test that reads it.
WRITING = {
    ("exports_api", "export_jobs", "INSERT"): "created_by delivery_key destination_id id overwrite_agreement_ref"
    " replacement_reason replaces_job_id status tenant_id version woken_at",
    ("exports_api", "export_jobs", "UPDATE"): "cancellation_request_id destination_id status stop_request_id version"
    " woken_at",
    ("exports_api", "deliveries", "INSERT"): "delivery_key original_job_id tenant_id",
    ("exports_api", "cancellation_requests", "INSERT"): "found_attempt_count found_attempt_id"
    " found_delivery_authorized_at found_status id job_id outcome reason requested_by tenant_id",
    ("exports_api", "outbox", "INSERT"): "created_at job_id kind message_id tenant_id",
    ("exports_worker", "export_jobs", "UPDATE"): "attempt_count attempt_id claimed_by delivery_authorized_at"
    " expected_file_bytes expected_file_name expected_file_sha256 failure_reason lease_expires_at status sweep_count"
    " woken_at",
    ("exports_worker", "export_attempt_events", "INSERT"): "attempt_id detail job_id kind observed_by recorded_at"
    " version worker_id",
    ("exports_worker", "outbox", "INSERT"): "created_at job_id kind message_id tenant_id",
    ("exports_dispatcher", "outbox", "UPDATE"): "published_at",
    ("exports_acknowledger", "export_jobs", "UPDATE"): "status",
    (
        "exports_acknowledger",
        "export_attempt_events",
        "INSERT",
    ): "attempt_id detail job_id kind observed_by recorded_at",
    ("exports_reconciler", "export_jobs", "UPDATE"): "failure_reason status",
    ("exports_reconciler", "export_attempt_events", "INSERT"): "attempt_id detail job_id kind observed_by recorded_at",
}


def _tries(table: str, column: str) -> Iterator[tuple[str, sql.Composed]]:
    """Yield one statement a verb that needs the right on this column alone and touches no row.

    An INSERT is only explained: its rights are checked, and neither a policy nor a trigger answers in their place.
    """
    names = {"t": sql.Identifier(table), "c": sql.Identifier(column)}
    yield "SELECT", sql.SQL("SELECT {c} FROM {t} WHERE false").format(**names)
    yield "INSERT", sql.SQL("EXPLAIN INSERT INTO {t} ({c}) OVERRIDING SYSTEM VALUE VALUES (NULL)").format(**names)
    yield "UPDATE", sql.SQL("UPDATE {t} SET {c} = DEFAULT WHERE false").format(**names)


def _may(role: Role, table: str, verb: str, column: str) -> bool:
    columns = GRANTS[role].get(table, {}).get(Verb(verb))
    return columns is not None and (columns == WHOLE or column in columns)


@pytest.fixture(scope="session")
def columns(database: str) -> dict[str, list[str]]:
    """Return the columns of every table of the project."""
    query = (
        "SELECT attrelid::regclass::text, array_agg(attname::text) FROM pg_attribute"
        " WHERE attrelid = ANY(%s::regclass[]) AND attnum > 0 AND NOT attisdropped GROUP BY 1"
    )
    with psycopg.connect(database) as connection:
        return dict(connection.execute(query, [sorted(TABLES)]).fetchall())


@pytest.mark.parametrize("table", sorted(TABLES))
@pytest.mark.parametrize("role", LOGINS)
def test_a_login_reads_and_writes_exactly_the_columns_stated(
    resident: Login, columns: dict[str, list[str]], role: Role, table: str
) -> None:
    session = resident(role)
    for column in columns[table]:
        for verb, statement in _tries(table, column):
            denied = refusal(session, statement) == DENIED
            assert denied is not _may(role, table, verb, column), f"{role} {verb} {table}.{column}"


@pytest.mark.parametrize("table", sorted(TABLES))
@pytest.mark.parametrize("role", LOGINS)
def test_a_login_removes_and_locks_only_what_is_stated(resident: Login, role: Role, table: str) -> None:
    rights = GRANTS[role].get(table, {})
    expected = {
        f"DELETE FROM {table} WHERE false": Verb.DELETE in rights,
        f"SELECT 1 FROM {table} LIMIT 0 FOR UPDATE": Verb.SELECT in rights and Verb.UPDATE in rights,
        f"SELECT 1 FROM {table} LIMIT 0 FOR KEY SHARE": Verb.SELECT in rights and Verb.UPDATE in rights,
        f"TRUNCATE {table} CASCADE": False,
        f"ALTER TABLE {table} DISABLE TRIGGER ALL": False,
        f"ALTER TABLE {table} ADD COLUMN more int": False,
        f"ALTER TABLE {table} OWNER TO {role}": False,
        f"DROP TABLE {table} CASCADE": False,
        f"CREATE TRIGGER t BEFORE INSERT ON {table} EXECUTE FUNCTION export_jobs_move()": False,
        f"COMMENT ON TABLE {table} IS 'mine'": False,
    }
    answers = {statement: refusal(resident(role), statement) != DENIED for statement in expected}
    assert answers == expected


@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_login_that_is_none_of_ours_reaches_no_table(sandbox: Sandbox, table: str) -> None:
    sandbox.connection.execute(f"CREATE ROLE {STRANGER}; GRANT USAGE ON SCHEMA public TO {STRANGER}")
    for verb in ("SELECT FROM", "DELETE FROM", "TRUNCATE"):
        assert sandbox.attempt(STRANGER, f"{verb} {table}") == DENIED


def test_writing_to_the_five_tables_is_granted_as_written_here(sandbox: Sandbox) -> None:
    query = (
        "SELECT grantee, table_name, privilege_type, string_agg(column_name, ' ' ORDER BY column_name)"
        " FROM information_schema.column_privileges WHERE table_name = ANY(%s) AND privilege_type <> 'SELECT'"
        " AND grantee NOT IN ('exports_owner', 'postgres') GROUP BY 1, 2, 3"
    )
    granted = {(who, table, verb): names for who, table, verb, names in sandbox.connection.execute(query, [list(FIVE)])}
    assert granted == WRITING


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("role", LOGINS)
def test_history_is_only_ever_added_to(resident: Login, columns: dict[str, list[str]], role: Role, table: str) -> None:
    for statement in (f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE", f"SELECT 1 FROM {table} FOR UPDATE"):
        assert refusal(resident(role), statement) == DENIED
    for column in columns[table]:
        update = sql.SQL("UPDATE {} SET {} = DEFAULT").format(sql.Identifier(table), sql.Identifier(column))
        assert refusal(resident(role), update) == DENIED


@pytest.mark.parametrize("role", LOGINS)
def test_a_sealed_credential_is_read_by_worker_and_acknowledger_alone(sandbox: Sandbox, role: Role) -> None:
    answer = sandbox.attempt(role, "SELECT ciphertext FROM destination_secrets")
    assert (answer != DENIED) is (role in {Role.WORKER, Role.ACKNOWLEDGER})


@pytest.mark.parametrize("secret", ["auth_user.password", "django_session.session_key", "knox_authtoken.digest"])
def test_the_auditor_reads_nothing_it_could_sign_in_with(sandbox: Sandbox, secret: str) -> None:
    table, column = secret.split(".")
    assert sandbox.attempt(Role.AUDITOR, f"SELECT {column} FROM {table}") == DENIED


def test_the_auditor_reads_every_table_and_writes_none(sandbox: Sandbox) -> None:
    assert GRANTS[Role.AUDITOR].keys() == TABLES
    assert all(rights.keys() == {Verb.SELECT} for rights in GRANTS[Role.AUDITOR].values())
    assert {sandbox.attempt(Role.AUDITOR, f"SELECT FROM {table}") for table in TABLES} == {"ok"}


def test_every_table_of_the_project_is_stated() -> None:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True) if model._meta.managed}
    assert tables | {"django_migrations"} == TABLES


def test_every_stated_column_exists(columns: dict[str, list[str]]) -> None:
    stated = [
        (role, table, column)
        for role, tables in GRANTS.items()
        for table, rights in tables.items()
        for names in rights.values()
        for column in names
    ]
    assert [where for where in stated if where[2] not in columns[where[1]]] == []


def test_the_catalogue_says_what_is_stated(sandbox: Sandbox) -> None:
    assert catalogue.differences(sandbox.connection).lines() == []


WRONG = {
    "REVOKE SELECT ON outbox FROM exports_dispatcher": "missing: exports_dispatcher SELECT on table outbox",
    "REVOKE UPDATE (published_at) ON outbox FROM exports_dispatcher": "missing: exports_dispatcher UPDATE on table"
    " outbox.published_at",
    "REVOKE CONNECT ON DATABASE {database} FROM exports_api": "missing: exports_api CONNECT on database {database}",
    "REVOKE USAGE ON SCHEMA public FROM exports_api": "missing: exports_api USAGE on schema public",
    "GRANT DELETE ON outbox TO exports_worker": "excess: exports_worker DELETE on table outbox",
    "GRANT TRUNCATE ON outbox TO exports_api": "excess: exports_api TRUNCATE on table outbox",
    "GRANT UPDATE (kind) ON outbox TO exports_dispatcher": "excess: exports_dispatcher UPDATE on table outbox.kind",
    "GRANT SELECT ON tenants TO PUBLIC": "excess: PUBLIC SELECT on table tenants",
    "GRANT SELECT (slug) ON tenants TO PUBLIC": "excess: PUBLIC SELECT on table tenants.slug",
    "GRANT SELECT ON tenants TO exports_api WITH GRANT OPTION": "excess: exports_api SELECT WITH GRANT OPTION on table"
    " tenants",
    "GRANT USAGE ON SEQUENCE export_attempt_events_id_seq TO exports_worker": "excess: exports_worker USAGE on sequence"
    " export_attempt_events_id_seq",
    "GRANT CREATE ON SCHEMA public TO PUBLIC": "excess: PUBLIC CREATE on schema public",
    "GRANT TEMPORARY ON DATABASE {database} TO PUBLIC": "excess: PUBLIC TEMPORARY on database {database}",
}


@pytest.mark.parametrize("statement", WRONG)
def test_a_wrong_grant_is_found_by_name_and_put_right(sandbox: Sandbox, statement: str) -> None:
    database = sandbox.value("SELECT current_database()")
    sandbox.connection.execute(statement.format(database=database))
    assert WRONG[statement].format(database=database) in catalogue.differences(sandbox.connection).lines()
    sandbox.become(Role.OWNER)
    catalogue.apply(sandbox.connection)
    assert catalogue.differences(sandbox.connection).lines() == []


def test_a_strangers_grant_is_reported_and_left_to_who_gave_it(sandbox: Sandbox) -> None:
    sandbox.connection.execute(f"CREATE ROLE {STRANGER}; GRANT SELECT ON tenants TO {STRANGER}")
    sandbox.become(Role.OWNER)
    catalogue.apply(sandbox.connection)
    lines = catalogue.differences(sandbox.connection).lines()
    assert lines == [f"excess: {STRANGER} SELECT on table tenants"]


def test_a_table_of_another_owner_is_reported(sandbox: Sandbox) -> None:
    sandbox.connection.execute("ALTER TABLE tenants OWNER TO postgres")
    lines = catalogue.differences(sandbox.connection).lines()
    assert "foreign: table tenants does not belong to exports_owner" in lines


def test_a_companys_own_table_is_not_judged(sandbox: Sandbox) -> None:
    sandbox.connection.execute("CREATE TABLE crm_people (id int); GRANT SELECT ON crm_people TO exports_worker")
    assert catalogue.differences(sandbox.connection).lines() == []


def test_grants_that_are_right_are_not_written_again(sandbox: Sandbox) -> None:
    version = (
        "SELECT string_agg(xmin::text, ' ' ORDER BY oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    )
    before = sandbox.value(version)
    sandbox.become(Role.OWNER)
    catalogue.apply(sandbox.connection)
    assert sandbox.value(version) == before


def test_two_runs_at_once_do_not_disturb_each_other(login: Login) -> None:
    sessions = [login(Role.OWNER) for _ in range(2)]
    with sessions[0].transaction():
        sessions[0].execute("REVOKE SELECT ON outbox FROM exports_auditor")
        catalogue.apply(sessions[0])
        sessions[1].execute("SET lock_timeout = '10ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            _apply_with_something_to_do(sessions[1])
    assert catalogue.differences(sessions[1]).lines() == []


def _apply_with_something_to_do(session: psycopg.Connection[Any]) -> None:
    with session.transaction(force_rollback=True):
        session.execute("REVOKE SELECT ON tenants FROM exports_auditor")
        catalogue.apply(session)


BEAT = (
    "INSERT INTO process_heartbeats (process_id, role) VALUES (%s, %s)"
    " ON CONFLICT (process_id) DO UPDATE SET role = excluded.role, seen_at = clock_timestamp()"
)
PROCESSES = [Role.API, Role.WORKER, Role.DISPATCHER, Role.ACKNOWLEDGER]


@pytest.mark.parametrize("role", PROCESSES)
def test_a_process_speaks_for_itself_alone(sandbox: Sandbox, role: Role) -> None:
    for other in PROCESSES:
        sandbox.become("postgres")
        sandbox.connection.execute(BEAT, [f"its {other}", other])
    for other in PROCESSES:
        mine = other is role
        assert (sandbox.attempt(role, (BEAT, ["a new one", other])) == "ok") is mine
        assert (sandbox.attempt(role, (BEAT, [f"its {other}", role])) == "ok") is mine
        assert (sandbox.attempt(role, (BEAT, ["another", other.removeprefix("exports_")])) == "ok") is mine


def test_only_a_worker_clears_heartbeats_away(sandbox: Sandbox) -> None:
    sandbox.connection.execute(BEAT, ["gone", Role.DISPATCHER])
    clear = "DELETE FROM process_heartbeats"
    assert [role for role in LOGINS if sandbox.attempt(role, clear) == "ok"] == [Role.WORKER]
    sandbox.become(Role.WORKER)
    assert sandbox.connection.execute(clear).rowcount == 1
