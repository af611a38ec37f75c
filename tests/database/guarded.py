"""Words for what the database answers, and a transaction in which any login can be tried and nothing stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from exports.states import Role
from tests.database.starting import insert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.database.starting import Row

Step = str | tuple[Any, Any]
OK = "ok"
DENIED = "42501"
BIRTH, MOVE, CONDITION, COLUMN, KIND, PROOF = "XJ001", "XJ002", "XJ003", "XJ004", "XJ005", "XJ006"
CHECK_VIOLATED = "23514"

STRANGER = "a_stranger"
SUPERUSER = "postgres"
PEOPLE_AND_STRANGERS = (*(role.value for role in Role if role is not Role.OWNER), STRANGER, SUPERUSER)
"""Every login but the owner's: the six, one the project does not know, and a superuser."""


class Sandbox:
    """One superuser's transaction: rows are made as the owner, tried as anybody, and rolled back."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def become(self, role: str) -> None:
        self.connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))

    def seed(self, *rows: Row) -> None:
        """Insert rows as the owner, and have what is deferred about them judged now, still as the owner."""
        self.become(Role.OWNER)
        for row in rows:
            insert(self.connection, row)
        self.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        self.connection.execute("SET CONSTRAINTS ALL DEFERRED")
        self.become(SUPERUSER)

    def let_all_write(self) -> None:
        """Give every login every right on the guarded tables, so that the triggers alone decide."""
        self.connection.execute(f"CREATE ROLE {STRANGER}")
        everybody = sql.SQL(", ").join(map(sql.Identifier, PEOPLE_AND_STRANGERS))
        grant = "GRANT ALL ON ALL TABLES IN SCHEMA public TO {}; GRANT USAGE ON SCHEMA public TO {}"
        self.connection.execute(sql.SQL(grant).format(everybody, everybody))

    def attempt(self, role: str, *steps: Step, proven: bool = False) -> str:
        """Do the steps as `role` and undo them; return OK or the SQLSTATE of the refusal.

        With `proven`, what is judged at commit is judged as well.
        """
        try:
            with self.connection.transaction(force_rollback=True):
                self.become(role)
                for step in steps:
                    self.connection.execute(*(step if isinstance(step, tuple) else (step,)))
                if proven:
                    self.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as error:
            return str(error.sqlstate)
        return OK

    def update(
        self, role: str, row: Row, changes: Mapping[str, Any], extra: Sequence[Step] = (), *, proven: bool = False
    ) -> str:
        """Try to change columns of a job as `role`, with further steps before the judgement at commit."""
        return self.attempt(role, update_of(row, changes), *extra, proven=proven)

    def value(self, query: str, *parameters: Any) -> Any:
        row = self.connection.execute(query, parameters).fetchone()
        assert row is not None
        return row[0]


def update_of(row: Row, changes: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Return the UPDATE of one job and its parameters."""
    assignments = sql.SQL(", ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in changes)
    statement = sql.SQL("UPDATE export_jobs SET {} WHERE id = %s").format(assignments)
    return statement, [*changes.values(), row["id"]]


def event_of(row: Row, kind: str) -> tuple[str, list[Any]]:
    """Return the INSERT of an event of the job's attempt."""
    statement = (
        "INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at)"
        " VALUES (%s, %s, %s, clock_timestamp())"
    )
    return statement, [row["id"], row["attempt_id"], kind]


def refusal(session: psycopg.Connection[Any], statement: Any) -> str:
    """Return the SQLSTATE with which a real session is refused, or nothing: then it was done."""
    try:
        session.execute(statement)
    except psycopg.Error as error:
        return str(error.sqlstate)
    return ""
