"""The seven logins: what they are, what they start with, and how they are brought to that.

No login is a member of another: one process is one role, and SET ROLE leads nowhere. The defaults bound every
wait (I4 and the lease need it: a statement that outlives its attempt is a zombie); a session may change its own,
and two do: the connection that streams a file lifts its statement timeout, a cancellation shortens its lock wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import sql

from exports.states import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psycopg import Connection

ATTRIBUTES: dict[str, tuple[bool, str]] = {
    "rolcanlogin": (True, "LOGIN"),
    "rolsuper": (False, "NOSUPERUSER"),
    "rolcreatedb": (False, "NOCREATEDB"),
    "rolcreaterole": (False, "NOCREATEROLE"),
    "rolinherit": (False, "NOINHERIT"),
    "rolreplication": (False, "NOREPLICATION"),
    "rolbypassrls": (False, "NOBYPASSRLS"),
}
"""Column of pg_roles, what it must be, and the word that makes it so."""

# PostgreSQL 15 gives the schema `public` to the role pg_database_owner, which the owner is by owning the database,
# and lets a login that inherits nothing create no table in it.
_OWNER_ATTRIBUTES = {"rolinherit": (True, "INHERIT")}

_PERSON_WAITS = {
    # Somebody is looking at a page: "busy, try again" after two seconds is better than an answer after ten.
    "lock_timeout": "2s",
    # No request reads more than a page of an indexed list.
    "statement_timeout": "10s",
    # Nothing between two statements of a request waits for a network; ten seconds is a stalled process.
    "idle_in_transaction_session_timeout": "10s",
    # A browser that left, or a process that was killed, stops costing within a second.
    "client_connection_check_interval": "1s",
}
_ATTEMPT_RUNS = {
    # Far below a lease of 60 s: cutoff 2 can wait, be refused and try again before its lease lapses.
    "lock_timeout": "5s",
    # Below the renewal interval of 20 s: a renewal that hangs is over before the next one is due.
    "statement_timeout": "15s",
    # Its transactions are single statements, or a few without anything between them.
    "idle_in_transaction_session_timeout": "10s",
    # The zombie statement: what a lost connection left waiting for a lock must not commit much later.
    "client_connection_check_interval": "1s",
}

DEFAULTS: dict[Role, dict[str, str]] = {
    Role.OWNER: {
        # While a migration waits for a table, everybody queues behind it: it fails before a lease can lapse.
        "lock_timeout": "5s",
        # An index over many millions of rows; nothing of ours takes longer.
        "statement_timeout": "1h",
        # Python between two statements of a migration.
        "idle_in_transaction_session_timeout": "10min",
        # It writes in one place at a time; noticing within ten seconds is soon enough.
        "client_connection_check_interval": "10s",
    },
    Role.API: _PERSON_WAITS,
    Role.WORKER: _ATTEMPT_RUNS,
    Role.DISPATCHER: {
        # It passes over locked rows; only a migration can make it wait.
        "lock_timeout": "2s",
        # One batch of wake-ups, read and marked.
        "statement_timeout": "10s",
        # It holds a batch's rows while it publishes them; a broker that hangs is given up after 5 s, twice over.
        "idle_in_transaction_session_timeout": "30s",
        # The rows of a dispatcher that died are free for another one within a second.
        "client_connection_check_interval": "1s",
    },
    Role.ACKNOWLEDGER: _ATTEMPT_RUNS,
    Role.RECONCILER: _PERSON_WAITS,
    Role.AUDITOR: {
        # It locks nothing; only a migration can make it wait.
        "lock_timeout": "2s",
        # It reads whole tables.
        "statement_timeout": "30min",
        # An audit is one snapshot and holds back vacuum: not while nobody reads.
        "idle_in_transaction_session_timeout": "1min",
        "client_connection_check_interval": "1s",
        # Its grants already say so; this makes a mistake fail by name.
        "default_transaction_read_only": "on",
    },
}
"""What each login starts with. An operator's own choice is ALTER ROLE … IN DATABASE …, which stands above it."""

_STATE: LiteralString = """
SELECT r.rolname, to_jsonb(r.*),
       coalesce((SELECT s.setconfig FROM pg_db_role_setting s WHERE s.setrole = r.oid AND s.setdatabase = 0), '{}'),
       ARRAY(SELECT ARRAY[pg_get_userbyid(m.roleid), pg_get_userbyid(m.grantor)]
             FROM pg_auth_members m WHERE m.member = r.oid)
FROM pg_roles r WHERE r.rolname = ANY(%s)
"""
_GRANTOR_MATTERS_SINCE = 160_000


class _Found:
    """A login as the catalogue has it."""

    def __init__(self, attributes: dict[str, Any], settings: list[str], memberships: list[list[str]]) -> None:
        self.attributes = attributes
        self.settings = settings
        self.memberships = memberships

    def wrong_attributes(self, role: Role) -> list[str]:
        wanted = ATTRIBUTES | (_OWNER_ATTRIBUTES if role is Role.OWNER else {})
        return [word for column, (value, word) in wanted.items() if self.attributes[column] is not value]

    def has_settings(self, wanted: Mapping[str, str]) -> bool:
        return sorted(self.settings) == sorted(f"{name}={value}" for name, value in wanted.items())


def _look(connection: Connection[Any]) -> dict[Role, _Found]:
    rows = connection.execute(_STATE, [[role.value for role in Role]]).fetchall()
    return {Role(name): _Found(*state) for name, *state in rows}


def differences(connection: Connection[Any]) -> list[str]:
    """Return a sentence for every way in which a login is not what it should be."""
    found = _look(connection)
    return [line for role in Role for line in _complaints(role, found.get(role))]


def _complaints(role: Role, found: _Found | None) -> Iterator[str]:
    if found is None:
        yield f"role {role} does not exist"
        return
    yield from (f"role {role} should be {word}" for word in found.wrong_attributes(role))
    yield from (f"role {role} is a member of {group}" for group, _ in found.memberships)
    if not found.has_settings(DEFAULTS[role]):
        yield f"role {role} starts with {sorted(found.settings)}"


def repair(connection: Connection[Any], passwords: Mapping[Role, str]) -> list[str]:
    """Create or repair the seven logins; return what was different. A login without a password keeps its own."""
    changed = differences(connection)
    for role in Role:
        _create_if_missing(connection, role)
    found = _look(connection)
    for role in Role:
        _set_attributes(connection, role, found[role])
        _leave_groups(connection, role, found[role])
        _set_defaults(connection, role, found[role])
        if role in passwords:
            _set_password(connection, role, passwords[role])
    return changed


def _create_if_missing(connection: Connection[Any], role: Role) -> None:
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role.value]).fetchone() is None:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT").format(sql.Identifier(role)))


def _set_attributes(connection: Connection[Any], role: Role, found: _Found) -> None:
    """Name only what is wrong: an administrator who is no superuser may not even say NOSUPERUSER."""
    if words := found.wrong_attributes(role):
        change = sql.SQL(" ").join(map(sql.SQL, words))
        connection.execute(sql.SQL("ALTER ROLE {} {}").format(sql.Identifier(role), change))


def _leave_groups(connection: Connection[Any], role: Role, found: _Found) -> None:
    for group, grantor in found.memberships:
        leave = sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(group), sql.Identifier(role))
        if connection.info.server_version >= _GRANTOR_MATTERS_SINCE:
            leave += sql.SQL(" GRANTED BY {}").format(sql.Identifier(grantor))
        connection.execute(leave)


def _set_defaults(connection: Connection[Any], role: Role, found: _Found) -> None:
    if found.has_settings(DEFAULTS[role]):
        return
    connection.execute(sql.SQL("ALTER ROLE {} RESET ALL").format(sql.Identifier(role)))
    for name, value in DEFAULTS[role].items():
        change = sql.SQL("ALTER ROLE {} SET {} = {}")
        connection.execute(change.format(sql.Identifier(role), sql.Identifier(name), sql.Literal(value)))


def _set_password(connection: Connection[Any], role: Role, password: str) -> None:
    """Send only the verifier: a server that logs its statements never sees the password."""
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    change = sql.SQL("ALTER ROLE {} PASSWORD {}")
    connection.execute(change.format(sql.Identifier(role), sql.Literal(verifier.decode())))
