"""Large data sets, each built once by the owner with triggers off and kept as a template database."""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

from psycopg import sql

from config.devstack import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from tests.bench.bench import Bench, Sizes

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


def jobs(bench: Bench, finished: int) -> str:
    """Return a data set of so many finished exports, beside those that wait stale and those whose lease is over."""
    name = f"bench_jobs_{finished}_{bench.sizes.stale_jobs}_{bench.sizes.expired_jobs}"
    return kept(bench, name, lambda one, owner: fill_jobs(owner, one.sizes, finished))


def fill_jobs(owner: psycopg.Connection, sizes: Sizes, finished: int) -> None:
    """Write so many finished exports, and the stale and expired ones of `sizes`, on a session without triggers."""
    owner.execute(TENANTS, [LARGE_TENANT, "bench-jobs", "bench-jobs"])
    owner.execute("INSERT INTO destinations (id, tenant_id, name, is_enabled) VALUES (%s, %s, 'partner', true)", PLACE)
    for order in (
        Rows("Completed", finished, "'7 days'"),
        Rows("Queued", sizes.stale_jobs, "'2 days'"),
        Rows("Running", sizes.expired_jobs, "'1 day'"),
    ):
        owner.execute(sql.SQL(JOBS).format(age=sql.SQL(order.age)), order.parameters)
    owner.execute(DELIVERIES)
    owner.execute(CLAIMS, [CONTRACT])


PLACE = (DESTINATION, LARGE_TENANT)


@dataclass(frozen=True, slots=True)
class Rows:
    """So many exports of one status, created and last woken about so long ago."""

    status: str
    count: int
    age: LiteralString

    @property
    def parameters(self) -> dict[str, object]:
        """Return what the statement needs."""
        place = {"tenant": LARGE_TENANT, "destination": DESTINATION}
        return place | {"status": self.status, "count": self.count}


JOBS: LiteralString = """
    INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, attempt_id, attempt_count, claimed_by,
        lease_expires_at, expected_file_name, expected_file_bytes, expected_file_sha256, delivery_authorized_at,
        woken_at, delivery_key, created_by, created_at)
    SELECT id, %(tenant)s, %(status)s, 1, %(destination)s, CASE WHEN claimed THEN gen_random_uuid() END, claimed::int,
           CASE WHEN claimed THEN 'bench:1:abcdef' END,
           CASE WHEN %(status)s = 'Running' THEN at + interval '1 minute' END,
           CASE WHEN done THEN 'contacts-' || id || '.csv' END, CASE WHEN done THEN 6400 END,
           CASE WHEN done THEN sha256(id::text::bytea) END, CASE WHEN done THEN at END,
           at, replace(id::text, '-', ''), 'client:bench', at
    FROM (SELECT gen_random_uuid() AS id, %(status)s <> 'Queued' AS claimed, %(status)s = 'Completed' AS done,
                 clock_timestamp() - interval {age} + n * interval '10 milliseconds' AS at
          FROM generate_series(1, %(count)s) n) made"""
DELIVERIES: LiteralString = """
    INSERT INTO deliveries (tenant_id, delivery_key, original_job_id) SELECT tenant_id, delivery_key, id
    FROM export_jobs"""
CLAIMS: LiteralString = """
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, version, worker_id, detail, recorded_at)
    SELECT id, attempt_id, 'Claimed', 1, claimed_by, %s, created_at FROM export_jobs WHERE attempt_id IS NOT NULL"""
