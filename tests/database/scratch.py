"""A database of its own on the running server, for what cannot be tried on the one all tests share."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parent.parent.parent
_COMMAND_SECONDS = 120  # a command takes two seconds; two minutes on a machine that does much else

# Everything a migration makes, by kind, name and definition; ids and orders of creation differ and are not asked.
_CATALOGUE = """
SELECT 'index', indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'constraint', conname, conrelid::regclass || ' ' || pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', proname, pg_get_functiondef(oid)
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT 'column', attrelid::regclass::text, attname || ' ' || format_type(atttypid, atttypmod) || ' '
    || attnotnull || ' ' || attidentity::text || ' ' || coalesce(pg_get_expr(adbin, adrelid), '')
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid AND c.relkind = 'r'
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE c.relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'policy', policyname, tablename || ' ' || cmd || coalesce(qual, '') || coalesce(with_check, '')
    FROM pg_policies
UNION ALL SELECT 'table', relname, relpersistence::text || ' ' || relrowsecurity FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
"""


@dataclass(frozen=True)
class Scratch:
    """A database that does not exist until somebody makes it."""

    name: str
    admin_url: str
    environment: dict[str, str]


@contextmanager
def scratch_database(admin_url: str) -> Iterator[Scratch]:
    """Yield the name and the addresses of a database; drop it afterwards, whoever is still connected."""
    name = f"scratch_{secrets.token_hex(4)}"
    urls = {key: _renamed(url, name) for key, url in os.environ.items() if key.endswith("_DATABASE_URL")}
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings.local", "PATH": os.environ["PATH"]}
    kept = {key: os.environ[key] for key in ("SECRET_KEY", "BROKER_URL", "CREDENTIAL_KEYS", "EXPORT_SPOOL_DIR")}
    try:
        yield Scratch(name, make_conninfo(admin_url, dbname=name), urls | settings | kept)
    finally:
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _renamed(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def manage(scratch: Scratch, *command: str, **changes: str) -> str:
    """Run a command of manage.py against the database; return what it printed, or fail with what it said."""
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=scratch.environment | changes,
        capture_output=True,
        text=True,
        check=False,
        timeout=_COMMAND_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def catalogue_of(connection: psycopg.Connection[Any]) -> set[tuple[str, str, str]]:
    """Return everything the migrations made."""
    return set(connection.execute(_CATALOGUE).fetchall())
