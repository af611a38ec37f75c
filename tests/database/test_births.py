"""How an export may come into being, and who may do it (I10)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import sql

from exports.states import Role, Status
from tests.database.guarded import BIRTH, DENIED, OK, PEOPLE_AND_STRANGERS, PROOF
from tests.database.starting import Row, ago, job, replacement

if TYPE_CHECKING:
    from tests.database.guarded import Sandbox

OF_AN_ATTEMPT: dict[str, Any] = {
    "version": 2,
    "attempt_count": 1,
    "sweep_count": 1,
    "attempt_id": uuid.uuid4(),
    "claimed_by": "worker",
    "lease_expires_at": ago(),
    "stop_request_id": uuid.uuid4(),
    "cancellation_request_id": uuid.uuid4(),
    "expected_file_name": "f",
    "expected_file_bytes": 1,
    "expected_file_sha256": b"h",
    "delivery_authorized_at": ago(),
}
NO_SUCH_ORIGINAL = "23503"


def birth(row: Row) -> list[Any]:
    """Return the steps that create a job and everything that must come with it."""
    key = (row["tenant_id"], row["delivery_key"], row["id"])
    columns = {name: value for name, value in row.items() if value is not None}
    names, places = sql.SQL(", ").join(map(sql.Identifier, columns)), [sql.Placeholder()] * len(columns)
    insert = sql.SQL("INSERT INTO export_jobs ({}) VALUES ({})").format(names, sql.SQL(", ").join(places))
    return [
        ("INSERT INTO deliveries (tenant_id, delivery_key, original_job_id) VALUES (%s, %s, %s)", key),
        (insert, list(columns.values())),
    ]


def wake_up(row: Row) -> tuple[str, list[Any]]:
    statement = "INSERT INTO outbox (message_id, kind, job_id, created_at) VALUES (%s, 'ExportReady', %s, now())"
    return statement, [uuid.uuid4(), row["id"]]


def request(row: Row) -> tuple[str, list[Any]]:
    columns = "job_id, tenant_id, destination_id, requested_by"
    statement = f"INSERT INTO creation_requests ({columns}) VALUES (%s, %s, %s, 'user:ann')"
    return statement, [row["id"], row["tenant_id"], row["destination_id"]]


@pytest.mark.parametrize("role", PEOPLE_AND_STRANGERS)
def test_only_the_api_creates_exports_and_only_queued(sandbox: Sandbox, role: str) -> None:
    sandbox.let_all_write()
    answers = {status: sandbox.attempt(role, *birth(job(status))) for status in Status}
    allowed = {Status.QUEUED} if role == Role.API else set()
    assert answers == {status: OK if status in allowed else BIRTH for status in Status}


@pytest.mark.parametrize("column", OF_AN_ATTEMPT)
def test_nothing_of_an_attempt_is_born_with_an_export(sandbox: Sandbox, column: str) -> None:
    sandbox.let_all_write()
    row = job(Status.QUEUED, **{column: OF_AN_ATTEMPT[column]})
    assert sandbox.attempt(Role.API, *birth(row)) == BIRTH


@pytest.mark.parametrize("column", sorted(OF_AN_ATTEMPT.keys() - {"version"}))
def test_the_api_may_not_even_name_those_columns(sandbox: Sandbox, column: str) -> None:
    row = job(Status.QUEUED, **{column: OF_AN_ATTEMPT[column]})
    assert sandbox.attempt(Role.API, *birth(row)) == DENIED


@pytest.mark.parametrize("status", Status)
def test_the_owner_gives_birth_to_any_state(sandbox: Sandbox, status: Status) -> None:
    assert sandbox.attempt(Role.OWNER, *birth(job(status)), proven=True) == OK


def test_a_birth_without_its_wake_up_is_refused_at_commit(sandbox: Sandbox) -> None:
    row = job(Status.QUEUED)
    assert sandbox.attempt(Role.API, *birth(row), request(row), proven=True) == PROOF


def test_a_birth_without_its_creation_request_is_refused_at_commit(sandbox: Sandbox) -> None:
    row = job(Status.QUEUED)
    assert sandbox.attempt(Role.API, *birth(row), wake_up(row), proven=True) == PROOF


def test_a_birth_with_both_is_committed(sandbox: Sandbox) -> None:
    row = job(Status.QUEUED)
    assert sandbox.attempt(Role.API, *birth(row), request(row), wake_up(row), proven=True) == OK


def test_a_second_original_with_the_same_key_is_refused_even_when_inserted_directly(sandbox: Sandbox) -> None:
    first = job(Status.QUEUED)
    sandbox.seed(first)
    second = job(Status.QUEUED, tenant_id=first["tenant_id"], delivery_key=first["delivery_key"])
    assert sandbox.attempt(Role.API, birth(second)[1]) == "23505"


@pytest.mark.parametrize("changed", ["tenant_id", "delivery_key"])
def test_a_replacement_carries_its_originals_tenant_and_key(sandbox: Sandbox, changed: str) -> None:
    original, other = job(Status.OUTCOME_UNKNOWN), job(Status.QUEUED)
    sandbox.seed(original, other)
    row = replacement(original, Status.QUEUED) | {changed: other[changed]}
    assert sandbox.attempt(Role.API, birth(row)[1]) == NO_SUCH_ORIGINAL


def test_a_replacement_never_replaces_a_replacement(sandbox: Sandbox) -> None:
    original = job(Status.OUTCOME_UNKNOWN)
    first = replacement(original, Status.OUTCOME_UNKNOWN)
    sandbox.seed(original, first)
    assert sandbox.attempt(Role.API, birth(replacement(first, Status.QUEUED))[1]) == NO_SUCH_ORIGINAL
