"""The grants as PostgreSQL has them, compared with those stated, and made equal to them (I7, I10).

Three kinds of thing carry rights: the project's tables and the sequences of their columns, the schema they are
in, and the database. Rights of logins that are none of ours are reported on the tables and never touched.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import sql

from exports.grants import GRANTS, TABLES
from exports.states import Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from psycopg import Connection

PUBLIC = "PUBLIC"
SCHEMA = "public"
TABLE_WORD, SEQUENCE_WORD, SCHEMA_WORD, DATABASE_WORD = "TABLE", "SEQUENCE", "SCHEMA", "DATABASE"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, order=True)
class Privilege:
    """One right of one role; `column` is empty for a right on the whole thing."""

    role: str
    kind: str
    name: str
    verb: str
    column: str = ""

    def __str__(self) -> str:
        on = f"{self.name}.{self.column}" if self.column else self.name
        return f"{self.role} {self.verb} on {self.kind.lower()} {on}"


@dataclass(frozen=True)
class Differences:
    """What the catalogue lacks, what it has beyond the statement, and tables that are not the owner's."""

    missing: frozenset[Privilege]
    excess: frozenset[Privilege]
    foreign: frozenset[str]

    def lines(self) -> list[str]:
        """Return a sentence for each, sorted; none when catalogue and statement agree."""
        return [
            *(f"missing: {privilege}" for privilege in sorted(self.missing)),
            *(f"excess: {privilege}" for privilege in sorted(self.excess)),
            *(f"foreign: table {name} does not belong to {Role.OWNER}" for name in sorted(self.foreign)),
        ]


# A right of the owner itself is no grant. An ACL never written stands for its default, which matters where that
# default gives something to PUBLIC: CONNECT and TEMPORARY on a database.
_ACTUAL: LiteralString = """
WITH ours AS (
    SELECT c.oid, c.relname, c.relowner, c.relacl, 'TABLE' AS kind
    FROM pg_class c WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname = ANY(%(tables)s)
    UNION ALL
    SELECT s.oid, s.relname, s.relowner, s.relacl, 'SEQUENCE'
    FROM pg_class c
    JOIN pg_depend d ON d.refobjid = c.oid AND d.refclassid = 'pg_class'::regclass AND d.classid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname = ANY(%(tables)s)),
held AS (
    SELECT a.grantee, o.kind, o.relname AS name, a.privilege_type, '' AS attname, a.is_grantable
    FROM ours o CROSS JOIN aclexplode(o.relacl) a WHERE a.grantee <> o.relowner
    UNION ALL
    SELECT a.grantee, o.kind, o.relname, a.privilege_type, t.attname, a.is_grantable
    FROM ours o JOIN pg_attribute t ON t.attrelid = o.oid AND NOT t.attisdropped
    CROSS JOIN aclexplode(t.attacl) a WHERE a.grantee <> o.relowner
    UNION ALL
    SELECT a.grantee, 'SCHEMA', n.nspname, a.privilege_type, '', a.is_grantable
    FROM pg_namespace n CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    WHERE n.nspname = %(schema)s::text AND a.grantee <> n.nspowner
      AND (a.grantee = 0 OR a.grantee::regrole::text = ANY(%(roles)s))
    UNION ALL
    SELECT a.grantee, 'DATABASE', d.datname, a.privilege_type, '', a.is_grantable
    FROM pg_database d CROSS JOIN aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    WHERE d.datname = current_database() AND a.grantee <> d.datdba
      AND (a.grantee = 0 OR a.grantee::regrole::text = ANY(%(roles)s)))
SELECT CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(h.grantee) END, h.kind, h.name,
       h.privilege_type || CASE WHEN h.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END, h.attname
FROM held h
"""
_TABLES: LiteralString = """
SELECT relname, pg_get_userbyid(relowner),
       ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
FROM pg_class c WHERE relnamespace = %(schema)s::text::regnamespace AND relname = ANY(%(tables)s)
"""
_ROLES: LiteralString = "SELECT rolname FROM pg_roles WHERE rolname = ANY(%(roles)s)"
_PARAMETERS = {"schema": SCHEMA, "tables": sorted(TABLES), "roles": [role.value for role in Role]}


def _expand(role: Role, tables: Mapping[str, Collection[str]]) -> Iterator[Privilege]:
    for table, rights in GRANTS[role].items():
        for verb, columns in rights.items():
            wanted = columns or ("",)
            there = {"", *tables.get(table, ())} if table in tables else set()
            yield from (Privilege(role, TABLE_WORD, table, verb, name) for name in wanted if name in there)


def expected(roles: Iterable[Role], tables: Mapping[str, Collection[str]], database: str) -> frozenset[Privilege]:
    """Return every right the statement gives to `roles` on the tables and columns there are.

    Between two migrations some of what is stated does not exist yet; its rights come with it.
    """
    rights: set[Privilege] = set()
    for role in roles:
        rights |= {Privilege(role, SCHEMA_WORD, SCHEMA, "USAGE")}
        rights |= {Privilege(role, DATABASE_WORD, database, "CONNECT")}
        rights |= set(_expand(role, tables))
    return frozenset(rights)


def actual(connection: Connection[Any]) -> frozenset[Privilege]:
    """Return every right the catalogue has on our tables, and those of ours on schema and database."""
    return frozenset(Privilege(*row) for row in connection.execute(_ACTUAL, _PARAMETERS).fetchall())


def existing_roles(connection: Connection[Any]) -> frozenset[Role]:
    """Return which of the seven logins exist."""
    return frozenset(Role(row[0]) for row in connection.execute(_ROLES, _PARAMETERS).fetchall())


def differences(connection: Connection[Any]) -> Differences:
    """Compare catalogue and statement, for the roles and tables that exist."""
    tables = connection.execute(_TABLES, _PARAMETERS).fetchall()
    columns = {table: frozenset(names) for table, _, names in tables}
    wanted = expected(existing_roles(connection) & GRANTS.keys(), columns, connection.info.dbname)
    found = actual(connection)
    return Differences(
        missing=wanted - found,
        excess=found - wanted,
        foreign=frozenset(table for table, owner, _ in tables if owner != Role.OWNER),
    )


def _ours(privilege: Privilege) -> bool:
    return privilege.role == PUBLIC or privilege.role in GRANTS


def _grouped(privileges: Iterable[Privilege]) -> Iterator[tuple[Privilege, list[str]]]:
    """Bring the columns of one role, table and verb together: one statement for all of them."""
    for _, group in groupby(sorted(privileges), key=lambda p: (p.role, p.kind, p.name, p.verb, bool(p.column))):
        members = list(group)
        yield members[0], [member.column for member in members if member.column]


def _command(pattern: LiteralString, privilege: Privilege, columns: list[str]) -> sql.Composed:
    name = sql.Identifier(privilege.name)
    if privilege.kind in {TABLE_WORD, SEQUENCE_WORD}:
        name = sql.Identifier(SCHEMA, privilege.name)
    return sql.SQL(pattern).format(
        verb=sql.SQL(privilege.verb.removesuffix(" WITH GRANT OPTION")),  # the catalogue's or our own closed words
        columns=sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Identifier, columns))) if columns else sql.SQL(""),
        kind=sql.SQL(privilege.kind),
        name=name,
        role=sql.SQL(PUBLIC) if privilege.role == PUBLIC else sql.Identifier(privilege.role),
    )


def _run(connection: Connection[Any], pattern: LiteralString, privileges: Iterable[Privilege]) -> None:
    commands = [_command(pattern, first, columns) for first, columns in _grouped(privileges)]
    if commands:
        connection.execute(sql.SQL("; ").join(commands))


def apply(connection: Connection[Any]) -> Differences:
    """Make the catalogue say what the statement says; return what was different before.

    Runs as the owner, in one transaction, and writes nothing when nothing differs. Revoking comes first and the
    comparison is repeated, because revoking a right on a table also takes the rights on its columns.
    """
    with connection.transaction():
        found = differences(connection)
        if found.missing or found.excess:
            # Two at once would each find the other's rows changed under it; the second finds nothing left to do.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('exports.grants'))")
            _run(connection, "REVOKE {verb} {columns} ON {kind} {name} FROM {role}", filter(_ours, found.excess))
            _run(connection, "GRANT {verb} {columns} ON {kind} {name} TO {role}", differences(connection).missing)
    return found


def warn_of_missing_roles(connection: Connection[Any]) -> None:
    """Log which logins do not exist yet; their grants follow when provision_roles has made them."""
    missing = sorted(set(GRANTS) - existing_roles(connection))
    if missing:
        logger.warning("logins_missing", extra={"logins": missing, "words": "Run provision_roles to create them."})
