"""Proof counts only when it was written by the transaction that moves the export; seen with real commits (I2)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from exports.sql import STATEMENTS
from exports.states import Role, Status
from tests.database.guarded import PROOF, event_of, update_of
from tests.database.starting import Row, insert, job
from tests.database.test_transitions import carried

if TYPE_CHECKING:
    from tests.database.conftest import Login

pytestmark = pytest.mark.usefixtures("clean")


def committed(login: Login, row: Row) -> Row:
    with (owner := login(Role.OWNER)).transaction():
        insert(owner, row)
    return row


def status(login: Login, row: Row) -> Any:
    found = login(Role.OWNER).execute("SELECT status FROM export_jobs WHERE id = %s", [row["id"]]).fetchone()
    assert found is not None
    return found[0]


def finished(session: psycopg.Connection[Any], row: Row) -> None:
    session.execute(*update_of(row, carried(Status.DELIVERING, Status.COMPLETED)))


def test_an_event_committed_earlier_proves_nothing_later(login: Login) -> None:
    row, worker = committed(login, job(Status.DELIVERING)), login(Role.WORKER)
    worker.execute(*event_of(row, "Finished"))
    with pytest.raises(psycopg.Error) as refused:
        finished(worker, row)
    assert refused.value.sqlstate == PROOF
    assert status(login, row) == Status.DELIVERING


def test_an_event_another_session_committed_meanwhile_proves_nothing(login: Login) -> None:
    row, worker, another = committed(login, job(Status.DELIVERING)), login(Role.WORKER), login(Role.WORKER)
    worker.execute("BEGIN")
    assert worker.execute("SELECT pg_current_xact_id()").fetchone()
    another.execute(*event_of(row, "Finished"))  # its number is the later one, as a savepoint's would be
    finished(worker, row)
    with pytest.raises(psycopg.Error) as refused:
        worker.execute("COMMIT")
    assert refused.value.sqlstate == PROOF
    assert status(login, row) == Status.DELIVERING


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("savepoint", [False, True])
def test_proof_of_the_same_transaction_counts_at_every_isolation(
    login: Login,
    isolation: str,
    savepoint: bool,  # noqa: FBT001 - a parameter
) -> None:
    row, worker = committed(login, job(Status.DELIVERING)), login(Role.WORKER)
    worker.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    finished(worker, row)
    if savepoint:
        worker.execute("SAVEPOINT inner_one")
    worker.execute(*event_of(row, "Finished"))
    worker.execute("COMMIT")
    assert status(login, row) == Status.COMPLETED


def test_nothing_of_an_unproven_transaction_is_kept(login: Login) -> None:
    row, api = committed(login, job(Status.QUEUED)), login(Role.API)
    names = {"tenant_id": row["tenant_id"], "job_id": row["id"], "request_id": uuid.uuid4()}
    api.execute("BEGIN")
    assert api.execute(STATEMENTS["cancel_queued"].text, names).fetchone() == (row["id"],)
    with pytest.raises(psycopg.Error) as refused:
        api.execute("COMMIT")
    assert refused.value.sqlstate == PROOF
    assert status(login, row) == Status.QUEUED


def test_asking_early_brings_the_refusal_early_and_no_way_around_it(login: Login) -> None:
    row, worker = committed(login, job(Status.DELIVERING)), login(Role.WORKER)
    worker.execute("BEGIN")
    finished(worker, row)
    with pytest.raises(psycopg.Error) as refused:
        worker.execute("SET CONSTRAINTS tg_export_jobs_proof IMMEDIATE")
    assert refused.value.sqlstate == PROOF
    worker.execute("ROLLBACK")


def test_a_superuser_who_holds_no_role_moves_nothing_and_an_owner_needs_no_proof(login: Login, database: str) -> None:
    row = committed(login, job(Status.DELIVERING))
    with psycopg.connect(database, autocommit=True) as superuser, pytest.raises(psycopg.Error) as refused:
        finished(superuser, row)
    assert refused.value.sqlstate == "XJ002"
    finished(login(Role.OWNER), row)
    assert status(login, row) == Status.COMPLETED


def test_many_moves_in_one_transaction_each_need_their_own_event(login: Login) -> None:
    row, worker = committed(login, job(Status.RUNNING)), login(Role.WORKER)
    both = [carried(Status.RUNNING, Status.DELIVERING), carried(Status.DELIVERING, Status.COMPLETED)]
    for kinds, kept in (
        (["DeliveryAuthorized"], False),
        (["Finished"], False),
        (["DeliveryAuthorized", "Finished"], True),
    ):
        worker.execute("BEGIN")
        for changes in both:
            worker.execute(*update_of(row, changes))
        for kind in kinds:
            worker.execute(*event_of(row, kind))
        if kept:
            worker.execute("COMMIT")
        else:
            with pytest.raises(psycopg.Error) as refused:
                worker.execute("COMMIT")
            assert refused.value.sqlstate == PROOF
    assert status(login, row) == Status.COMPLETED
