"""Bring a server to what the processes need: logins, a database of the owner's, rights on what is in it.

Runs before the tables exist (logins and database) and after (grants as well), any number of times. It is not a
migration: the owner of the tables may not create logins, and since PostgreSQL 16 could not even repair them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from exports import catalogue, roles
from exports.errors import ExportError
from exports.states import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psycopg import Connection

_CONNECT_SECONDS = 5  # a server that does not answer in five seconds is not there
_LOCK_SECONDS = 30  # another run of this takes a second or two
_MEMBERSHIP_OPTIONS_SINCE = 160_000


class NotProvisioned(ExportError):  # noqa: N818 - what is the case, not a fault of the code
    """The server could not be brought to what was asked."""


@dataclass(frozen=True, slots=True)
class Logins:
    """The addresses under which the administrator and each role reach the server, passwords included."""

    admin_url: str
    role_urls: Mapping[Role, str]

    def __post_init__(self) -> None:
        if not self.admin_url or Role.OWNER not in self.role_urls:
            raise NotProvisioned("ADMIN_DATABASE_URL and MIGRATION_DATABASE_URL are needed.")
        for role, url in self.role_urls.items():
            if (user := conninfo_to_dict(url).get("user")) != role:
                raise NotProvisioned(f"The login of {role} is fixed; its address names {user}.")

    @property
    def database(self) -> str:
        """The database of the project, as the owner's address names it."""
        return str(conninfo_to_dict(self.role_urls[Role.OWNER])["dbname"])

    @property
    def passwords(self) -> dict[Role, str]:
        """The passwords in the addresses; a role whose address has none keeps what it has."""
        found = {role: conninfo_to_dict(url).get("password") for role, url in self.role_urls.items()}
        return {role: str(password) for role, password in found.items() if password}


def provision(logins: Logins) -> list[str]:
    """Create or repair everything; return a sentence for each thing that was not as it should be."""
    with _admin(logins.admin_url) as admin:
        changed = roles.repair(admin, logins.passwords)
        changed += _ensure_database(admin, logins.database)
    with _connect(logins.role_urls[Role.OWNER]) as owner:
        changed += _ensure_schema(owner, logins)
        changed += catalogue.apply(owner).lines()
    return changed


def check(logins: Logins) -> list[str]:
    """Change nothing; return a sentence for each thing that is not as it should be."""
    with _admin(logins.admin_url) as admin:
        wrong = roles.differences(admin)
    with _connect(logins.role_urls[Role.OWNER]) as owner:
        return wrong + catalogue.differences(owner).lines()


def _connect(url: str, **changes: Any) -> Connection[Any]:
    return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS, **changes)


@contextmanager
def _admin(url: str) -> Iterator[Connection[Any]]:
    """Connect where every server has a database, one run at a time: two would change the same rows at once."""
    with _connect(url, dbname="postgres") as connection:
        connection.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
        connection.execute("SELECT pg_advisory_lock(hashtext('exports.provision'))")
        yield connection


@contextmanager
def _as_member_of_owner(connection: Connection[Any]) -> Iterator[None]:
    """Let an administrator who is no superuser give something to the owner, which only its members may."""
    superuser = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if superuser == (True,):
        yield
        return
    owner = sql.Identifier(Role.OWNER)
    options = " WITH SET TRUE" if connection.info.server_version >= _MEMBERSHIP_OPTIONS_SINCE else ""
    connection.execute(sql.SQL("GRANT {} TO CURRENT_USER" + options).format(owner))
    try:
        yield
    finally:
        connection.execute(sql.SQL("REVOKE {} FROM CURRENT_USER").format(owner))


def _ensure_database(admin: Connection[Any], name: str) -> list[str]:
    """Create the database, or give it to the owner: only then may the owner migrate it and close it to PUBLIC."""
    found = admin.execute("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = %s", [name]).fetchone()
    if found == (Role.OWNER.value,):
        return []
    create = "CREATE DATABASE {} OWNER {} ENCODING 'UTF8' TEMPLATE template0"
    command = sql.SQL(create if found is None else "ALTER DATABASE {} OWNER TO {}")
    with _as_member_of_owner(admin):
        admin.execute(command.format(sql.Identifier(name), sql.Identifier(Role.OWNER)))
    return [f"database {name} did not exist" if found is None else f"database {name} belonged to {found[0]}"]


def _ensure_schema(owner: Connection[Any], logins: Logins) -> list[str]:
    """Give the schema to the database's owner: in a database that is older than PostgreSQL 15 it is not."""
    found = owner.execute("SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'public'").fetchone()
    if found in {("pg_database_owner",), (Role.OWNER.value,)}:
        return []
    # Only now as the administrator: the database is closed to everybody without a right of their own.
    with _connect(logins.admin_url, dbname=logins.database) as admin:
        admin.execute("ALTER SCHEMA public OWNER TO pg_database_owner")
    return ["schema public did not belong to the database's owner"]
