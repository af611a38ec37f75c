"""A click whose answer was lost: the record is read again, and without one nothing is claimed (I6, I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from django.db import connections

from exports import boundary, crashpoints
from exports.actions.request_cancellation import Busy, BusyCause, Recorded
from exports.models import CancellationRequest
from exports.states import CancellationOutcome, Status
from tests.cancellation.clicking import a_click, recorded, submit
from tests.recovery.lives import ALIASES, a_place, now, queued
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


def end_session_of(alias: str, admin_url: str) -> None:
    """Have the server end this thread's session, and wait until it is gone."""
    connections[alias].ensure_connection()
    pid = connections[alias].connection.info.backend_pid
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_session_lost_before_the_commit_records_nothing_and_claims_nothing(admin_url: str) -> None:
    job = queued(a_place())
    click = a_click(job)
    crashpoints.arm("cancel.commit.before", lambda: end_session_of("api", admin_url))

    answer = submit(click)

    assert answer == Busy(click.request_id, BusyCause.UNKNOWN)
    assert (CancellationRequest.objects.count(), now(job.id).status) == (0, Status.QUEUED)
    crashpoints.disarm()
    assert recorded(submit(click)).outcome == CancellationOutcome.CANCELED_WHILE_QUEUED


def test_a_session_lost_after_the_commit_gets_the_recorded_outcome(
    admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(a_place())
    click = a_click(job)
    commit = connections["api"].commit

    def commit_and_lose_the_answer() -> None:
        monkeypatch.undo()
        commit()
        end_session_of("api", admin_url)
        with connections["api"].cursor() as cursor:
            cursor.execute("SELECT 1")  # raises what a lost answer raises

    monkeypatch.setattr(connections["api"], "commit", commit_and_lose_the_answer)
    answer = submit(click)

    assert isinstance(answer, Recorded)
    assert answer.request.outcome == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert CancellationRequest.objects.count() == 1


def test_a_session_lost_while_it_waits_for_the_row_is_not_known_and_leaves_nothing_behind(
    admin_url: str,
) -> None:
    job = queued(a_place())
    click = a_click(job)
    with session("api") as holder, holder.transaction():
        run(holder, "lock_for_cancellation", tenant_id=job.tenant_id, job_id=job.id)
        submission = Background(lambda: submit(click))
        waiting = wait_until_blocked_by(holder)
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", [waiting])
        answer = submission.result()

    assert answer == Busy(click.request_id, BusyCause.UNKNOWN)
    assert (CancellationRequest.objects.count(), now(job.id).status) == (0, Status.QUEUED)


def test_a_database_that_is_away_is_busy_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    job = queued(a_place())
    click = a_click(job)
    connections["api"].close()
    monkeypatch.setitem(connections["api"].settings_dict, "PORT", "9")
    monkeypatch.setattr(boundary, "REREAD_SECONDS", 0.3)

    assert submit(click) == Busy(click.request_id, BusyCause.UNKNOWN)
