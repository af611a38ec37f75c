"""provision_roles on a server of its own: from nothing, again, and from every kind of disorder."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import CommandError, call_command
from psycopg.conninfo import make_conninfo

from config.devstack.postgres import FAST_AND_LOSSY
from config.devstack.stack import Stack
from exports import catalogue, roles
from exports.provision import Logins, NotProvisioned, check, provision
from exports.states import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

DATABASE = "exports"
MANAGER = "a_manager"
"""An administrator who may create roles and databases and is no superuser, as managed servers give one."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    programs = os.environ.get("EXPORT_TEST_POSTGRES_BIN")
    stack = Stack(
        tmp_path_factory.mktemp("bare"),
        programs=Path(programs) if programs else None,
        postgres_options=FAST_AND_LOSSY,
    )
    try:
        stack.postgres.start()
        yield stack
    finally:
        stack.home.remove()


@pytest.fixture
def logins(server: Stack) -> Iterator[Logins]:
    """Return addresses on a server that has neither roles nor database, and take both away afterwards."""
    url = server.postgres.url
    yield Logins(url(), {role: url(role, DATABASE) for role in Role})
    with connect(url()) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        for role in (*Role, MANAGER):
            admin.execute(f"DROP ROLE IF EXISTS {role}")


@pytest.fixture
def ready(logins: Logins) -> Logins:
    """Return addresses on a server that has been provisioned once."""
    provision(logins)
    return logins


def connect(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(url, autocommit=True)


def value(url: str, query: str) -> Any:
    with connect(url) as session:
        row = session.execute(query).fetchone()
    assert row is not None
    return row[0]


def disorder(logins: Logins, statement: str, database: str = "postgres") -> None:
    with connect(make_conninfo(logins.admin_url, dbname=database)) as admin:
        admin.execute(statement)


def test_from_nothing_it_makes_seven_logins_and_the_owners_database(logins: Logins) -> None:
    said = provision(logins)
    assert [f"role {role} does not exist" for role in Role] == said[:7]
    assert f"database {DATABASE} did not exist" in said
    for role, url in logins.role_urls.items():
        assert value(url, "SELECT current_user") == role
    owner = "SELECT pg_get_userbyid(datdba) || ' ' || pg_encoding_to_char(encoding) FROM pg_database"
    assert value(logins.admin_url, f"{owner} WHERE datname = '{DATABASE}'") == "exports_owner UTF8"


def test_a_second_run_finds_nothing_to_do(ready: Logins) -> None:
    assert provision(ready) == []
    assert check(ready) == []


def test_the_owner_may_create_tables_and_the_others_may_not(ready: Logins) -> None:
    for role, url in ready.role_urls.items():
        with connect(url) as session:
            session.execute("SET default_transaction_read_only = off")
            if role is Role.OWNER:
                session.execute("CREATE TABLE mine (id int)")
            else:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    session.execute("CREATE TABLE theirs (id int)")


def test_nobody_else_may_connect_to_the_database(ready: Logins) -> None:
    disorder(ready, f"CREATE ROLE {MANAGER} LOGIN PASSWORD 'secret'")
    parts = urlsplit(ready.admin_url)
    url = f"postgresql://{MANAGER}:secret@{parts.hostname}:{parts.port}/{DATABASE}"
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        connect(url)


@pytest.mark.parametrize("role", Role)
def test_every_session_starts_with_its_roles_bounds(ready: Logins, role: Role) -> None:
    with connect(ready.role_urls[role]) as session:
        query = "SELECT name, setting, unit FROM pg_settings WHERE source = 'user'"
        settings = {name: (setting, unit) for name, setting, unit in session.execute(query)}
    assert settings.keys() == roles.DEFAULTS[role].keys()
    bounds = {
        "lock_timeout",
        "statement_timeout",
        "idle_in_transaction_session_timeout",
        "client_connection_check_interval",
    }
    assert bounds <= settings.keys()
    assert all(int(settings[name][0]) > 0 and settings[name][1] == "ms" for name in bounds)


def test_a_lock_wait_and_a_statement_end_before_a_lease_can_be_renewed() -> None:
    worker = roles.DEFAULTS[Role.WORKER]
    assert (worker["lock_timeout"], worker["statement_timeout"]) == ("5s", "15s")  # renewed every 20 s, lapses at 60 s


WRONG = {
    "ALTER ROLE exports_worker SUPERUSER": "role exports_worker should be NOSUPERUSER",
    "ALTER ROLE exports_api CREATEDB": "role exports_api should be NOCREATEDB",
    "ALTER ROLE exports_api CREATEROLE": "role exports_api should be NOCREATEROLE",
    "ALTER ROLE exports_auditor BYPASSRLS": "role exports_auditor should be NOBYPASSRLS",
    "ALTER ROLE exports_auditor REPLICATION": "role exports_auditor should be NOREPLICATION",
    "ALTER ROLE exports_dispatcher INHERIT": "role exports_dispatcher should be NOINHERIT",
    "ALTER ROLE exports_owner NOINHERIT": "role exports_owner should be INHERIT",
    "ALTER ROLE exports_worker NOLOGIN": "role exports_worker should be LOGIN",
    "GRANT exports_owner TO exports_worker": "role exports_worker is a member of exports_owner",
    "GRANT pg_read_all_data TO exports_api": "role exports_api is a member of pg_read_all_data",
    "ALTER ROLE exports_worker SET lock_timeout = 0": "role exports_worker starts with",
    "ALTER ROLE exports_worker SET search_path = mine": "role exports_worker starts with",
    "ALTER ROLE exports_worker RESET ALL": "role exports_worker starts with",
    f"GRANT CONNECT, TEMPORARY ON DATABASE {DATABASE} TO PUBLIC": "excess: PUBLIC CONNECT on database exports",
    f"GRANT CREATE ON DATABASE {DATABASE} TO exports_api": "excess: exports_api CREATE on database exports",
    f"REVOKE CONNECT ON DATABASE {DATABASE} FROM exports_api": "missing: exports_api CONNECT on database exports",
}


@pytest.mark.parametrize("statement", WRONG)
def test_disorder_is_found_by_name_and_put_right(ready: Logins, statement: str) -> None:
    disorder(ready, statement)
    assert [line for line in check(ready) if line.startswith(WRONG[statement])]
    assert [line for line in provision(ready) if line.startswith(WRONG[statement])]
    assert check(ready) == []


def test_a_membership_somebody_else_granted_is_ended_too(ready: Logins) -> None:
    disorder(ready, f"CREATE ROLE {MANAGER} CREATEROLE; GRANT exports_owner TO {MANAGER} WITH ADMIN OPTION")
    disorder(ready, f"SET ROLE {MANAGER}; GRANT exports_owner TO exports_api")
    provision(ready)
    assert check(ready) == []
    disorder(ready, f"DROP OWNED BY {MANAGER}; REVOKE exports_owner FROM {MANAGER}")


def test_a_role_that_was_dropped_comes_back_with_its_rights(ready: Logins) -> None:
    disorder(ready, "DROP OWNED BY exports_auditor", DATABASE)
    disorder(ready, f"REVOKE ALL ON DATABASE {DATABASE} FROM exports_auditor; DROP ROLE exports_auditor")
    assert "role exports_auditor does not exist" in check(ready)
    provision(ready)
    assert check(ready) == []
    assert value(ready.role_urls[Role.AUDITOR], "SELECT current_user") == Role.AUDITOR


def test_a_changed_password_is_the_one_in_the_address(ready: Logins) -> None:
    disorder(ready, "ALTER ROLE exports_api PASSWORD 'another'")
    with pytest.raises(psycopg.OperationalError):
        connect(ready.role_urls[Role.API])
    provision(ready)
    assert value(ready.role_urls[Role.API], "SELECT 1") == 1


def test_a_role_without_an_address_is_made_and_keeps_its_password(ready: Logins) -> None:
    fewer = replace(
        ready, role_urls={role: url for role, url in ready.role_urls.items() if role is not Role.RECONCILER}
    )
    provision(fewer)
    assert value(ready.role_urls[Role.RECONCILER], "SELECT 1") == 1


def test_a_database_of_somebody_else_is_given_to_the_owner(logins: Logins) -> None:
    disorder(logins, f"CREATE DATABASE {DATABASE}")
    assert f"database {DATABASE} belonged to postgres" in provision(logins)
    assert check(logins) == []


def test_a_schema_from_before_postgresql_15_is_given_to_the_databases_owner(ready: Logins) -> None:
    disorder(ready, "ALTER SCHEMA public OWNER TO postgres; GRANT CREATE ON SCHEMA public TO PUBLIC", DATABASE)
    said = provision(ready)
    assert "schema public did not belong to the database's owner" in said
    assert "excess: PUBLIC CREATE on schema public" in said
    assert check(ready) == []


def test_an_administrator_who_is_no_superuser_is_enough(logins: Logins) -> None:
    disorder(logins, f"CREATE ROLE {MANAGER} LOGIN CREATEROLE CREATEDB PASSWORD 'secret'")
    parts = urlsplit(logins.admin_url)
    managed = replace(logins, admin_url=f"postgresql://{MANAGER}:secret@{parts.hostname}:{parts.port}/postgres")
    provision(managed)
    assert check(managed) == []
    assert provision(managed) == []
    member = f"pg_has_role('{MANAGER}', '{Role.OWNER}', 'USAGE')"
    assert value(logins.admin_url, f"SELECT {member}") is False
    disorder(logins, f"DROP DATABASE {DATABASE} WITH (FORCE)")
    disorder(logins, f"REASSIGN OWNED BY {MANAGER} TO postgres; DROP OWNED BY {MANAGER}")
    for role in Role:
        disorder(logins, f"DROP ROLE {role}")


def test_an_address_that_names_another_role_is_refused(logins: Logins) -> None:
    with pytest.raises(NotProvisioned, match="exports_api is fixed"):
        replace(logins, role_urls=dict(logins.role_urls) | {Role.API: logins.role_urls[Role.WORKER]})


@pytest.mark.parametrize("missing", [{"admin_url": ""}, {"role_urls": {}}], ids=["administrator", "owner"])
def test_without_administrator_or_owner_it_says_what_it_needs(logins: Logins, missing: dict[str, Any]) -> None:
    with pytest.raises(NotProvisioned, match="ADMIN_DATABASE_URL and MIGRATION_DATABASE_URL"):
        replace(logins, **missing)


def test_the_command_prints_what_differed_and_check_fails(ready: Logins, settings: Any) -> None:
    settings.ADMIN_DATABASE_URL = ready.admin_url
    settings.ROLE_DATABASE_URLS = {role.removeprefix("exports_"): url for role, url in ready.role_urls.items()}
    disorder(ready, "ALTER ROLE exports_api CREATEDB")
    with pytest.raises(CommandError, match="1 differences"):
        call_command("provision_roles", check=True, stdout=io.StringIO())
    printed = io.StringIO()
    call_command("provision_roles", stdout=printed)
    assert printed.getvalue() == "role exports_api should be NOCREATEDB\n"
    call_command("provision_roles", check=True, stdout=io.StringIO())


def test_a_server_that_does_not_answer_is_one_clear_sentence(logins: Logins, settings: Any) -> None:
    nowhere = urlsplit(logins.admin_url)._replace(netloc="postgres:x@127.0.0.1:1").geturl()
    settings.ADMIN_DATABASE_URL = nowhere
    settings.ROLE_DATABASE_URLS = {"owner": logins.role_urls[Role.OWNER]}
    with pytest.raises(CommandError, match="Connection refused"):
        call_command("provision_roles", stdout=io.StringIO())


def test_no_password_reaches_the_servers_log(server: Stack, ready: Logins) -> None:
    disorder(ready, "ALTER SYSTEM SET log_statement = 'all'")
    disorder(ready, "SELECT pg_reload_conf()")
    provision(ready)
    disorder(ready, "ALTER SYSTEM RESET log_statement")
    disorder(ready, "SELECT pg_reload_conf()")
    log = server.home.log("postgres").read_text(encoding="utf-8")
    assert "ALTER ROLE" in log
    assert not [role for role in Role if ready.passwords[role] in log]


def test_a_migration_before_the_logins_exist_warns_and_grants_to_those_that_do(
    logins: Logins, caplog: pytest.LogCaptureFixture
) -> None:
    password = logins.passwords[Role.OWNER]
    disorder(logins, f"CREATE ROLE exports_owner LOGIN PASSWORD '{password}'; CREATE ROLE exports_worker")
    disorder(logins, f"CREATE DATABASE {DATABASE} OWNER exports_owner")
    with connect(logins.role_urls[Role.OWNER]) as owner:
        owner.execute("CREATE TABLE tenants (id uuid)")
        catalogue.warn_of_missing_roles(owner)
        catalogue.apply(owner)
        granted = "SELECT has_table_privilege('exports_worker', 'tenants', 'SELECT')"
        assert owner.execute(granted).fetchone() == (True,)
        assert catalogue.differences(owner).lines() == []
    [missing] = [record.__dict__["logins"] for record in caplog.records if record.message == "logins_missing"]
    assert missing[:3] == ["exports_acknowledger", "exports_api", "exports_auditor"]
    assert "provision_roles" in caplog.records[0].__dict__["words"]
