"""Large data sets, each built once by the owner with triggers off and kept as a template database."""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, LiteralString

from psycopg import sql

from config.devstack import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from tests.bench.bench import Bench

    Filling = Callable[[Bench, psycopg.Connection], None]

LARGE_TENANT = uuid.UUID(int=1)
SMALL_TENANT = uuid.UUID(int=2)
DESTINATION = uuid.UUID(int=3)
CONTRACT = uuid.UUID(int=4)
SMALL_CONTACTS = 100_000

TENANTS: LiteralString = "INSERT INTO tenants (id, slug, name, is_active) VALUES (%s, %s, %s, true)"
CONTACTS: LiteralString = """
    INSERT INTO contacts (tenant_id, external_id, email, given_name, family_name, phone, company, country, notes)
    SELECT %s, 'C-' || lpad(n::text, 8, '0'), 'person' || n || '@example.org', 'Zoë', 'von "Tann" ' || mod(n, 977),
           '+49 30 ' || lpad(n::text, 8, '0'), 'Comma, Inc.', 'DE',
           CASE WHEN mod(n, 5) = 0 THEN E'two\nlines' ELSE '' END
    FROM generate_series(1, %s) n"""


def contacts(bench: Bench) -> str:
    """Return the database with the contacts; it is only read."""
    return kept(bench, f"bench_contacts_{bench.sizes.contacts}", _fill_contacts)


def _fill_contacts(bench: Bench, owner: psycopg.Connection) -> None:
    for tenant, count in ((LARGE_TENANT, bench.sizes.contacts), (SMALL_TENANT, SMALL_CONTACTS)):
        owner.execute(TENANTS, [tenant, f"bench-{tenant.int}", f"bench-{tenant.int}"])
        owner.execute(CONTACTS, [tenant, count])


def kept(bench: Bench, name: str, fill: Filling) -> str:
    """Return a database of this name: that of an earlier run, or a new one, filled. Half-filled ones are not kept."""
    with bench.session(database="postgres") as admin:
        if admin.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone():
            return name
        draft = f"{name}_draft"
        _copy(admin, environment.DATABASE, draft)
        began = time.monotonic()
        with _as_owner_without_triggers(bench, draft) as owner:
            fill(bench, owner)
            owner.execute("RESET ROLE")
            owner.execute("VACUUM ANALYZE")
        admin.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(draft), sql.Identifier(name)))
    bench.report(f"built {name} in {time.monotonic() - began:.0f} s; it is kept")
    return name


@contextmanager
def copy_of(bench: Bench, template: str) -> Iterator[str]:
    """Lend a copy of a data set, which may be written to, and drop it afterwards."""
    name = f"{template}_copy"
    with bench.session(database="postgres") as admin:
        _copy(admin, template, name)
        try:
            yield name
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _copy(admin: psycopg.Connection, template: str, name: str) -> None:
    admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [template])
    copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy OWNER exports_owner")
    admin.execute(copy.format(sql.Identifier(name), sql.Identifier(template)))


@contextmanager
def _as_owner_without_triggers(bench: Bench, database: str) -> Iterator[psycopg.Connection]:
    """Lend a session that builds as the owner; guards and foreign keys look away, because millions of rows pass."""
    with bench.session(database=database) as session:
        session.execute("SET session_replication_role = replica")
        session.execute("SET synchronous_commit = off")
        session.execute("SET ROLE exports_owner")
        yield session
