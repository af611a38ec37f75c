"""The lost-response rules: what an exception from a write says, and whom to ask when it says nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DatabaseError, IntegrityError, connections

from exports import boundary, sessions
from exports.boundary import Doubt, ask, doubt_of, settle
from exports.models import Tenant
from tests.faults.observing import held_row, is_alive, until
from tests.faults.relay import Doors
from tests.faults.wire_proxy import Fault, containing

if TYPE_CHECKING:
    import psycopg

    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"])

UNKNOWN, FROM_THE_ROW, ANSWERED = "unknown", "from the row", "answered"


def run(statement: str, using: str = "worker") -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(statement)


def raising(code: str) -> str:
    """Return a statement the server refuses with this SQLSTATE."""
    return f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$"


class Write:
    """Refused with a code so many times, then answered."""

    def __init__(self, code: str, times: int) -> None:
        self.left = times
        self.tries = 0
        self._statement = raising(code)

    def __call__(self) -> str:
        self.tries += 1
        if self.left:
            self.left -= 1
            run(self._statement)
        return ANSWERED


def settled(write: Any, *, seconds: float = 5.0, using: str = "worker") -> str:
    return settle(write, lambda: FROM_THE_ROW, unknown=UNKNOWN, give_up_at=time.monotonic() + seconds, using=using)


@pytest.mark.parametrize("code", sorted(boundary.NOT_NOW))
def test_a_definite_not_now_is_tried_again_without_asking_the_row(code: str) -> None:
    write = Write(code, times=2)
    assert settled(write) == ANSWERED
    assert write.tries == 3


@pytest.mark.parametrize("code", sorted(boundary.NOT_NOW))
def test_not_now_until_the_bound_is_asked_of_the_row(code: str) -> None:
    write = Write(code, times=1_000)
    assert settled(write, seconds=0.0) == FROM_THE_ROW
    assert write.tries == 1


def test_a_real_database_error_is_raised_and_never_tried_again() -> None:
    write = Write("23505", times=1)
    with pytest.raises(IntegrityError):
        settled(write)
    assert write.tries == 1


def test_an_error_that_is_not_the_databases_is_raised() -> None:
    def write() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        settled(write)


def test_a_lock_that_is_held_too_long_is_a_definite_not_now(world: World, waking: Waking) -> None:
    job = world.queued()
    doubts: list[Doubt] = []

    def waits() -> None:
        run("SET lock_timeout = '50ms'")
        try:
            run(f"SELECT FROM export_jobs WHERE id = '{job.id}' FOR UPDATE")
        except DatabaseError as error:
            doubts.append(doubt_of(error, "worker"))

    with held_row(job):
        waking.call(waits).result()
    assert doubts == [Doubt.NOT_NOW]


def test_an_error_on_a_line_that_is_gone_by_now_is_no_answer_to_build_on() -> None:
    with pytest.raises(IntegrityError) as refusal:
        run(raising("23505"))
    assert doubt_of(refusal.value, "worker") is Doubt.REAL

    connections["worker"].connection.close()

    assert doubt_of(refusal.value, "worker") is Doubt.UNKNOWN


@pytest.mark.parametrize("fault", [Fault.CUT_REPLY, Fault.DROP_REQUEST])
def test_a_lost_line_says_nothing_and_the_row_is_asked(fault: Fault, proxy: WireProxy, lossy: str) -> None:
    proxy.ambush(containing("SELECT 42"), fault)
    assert settled(lambda: run("SELECT 42", lossy), using=lossy) == FROM_THE_ROW


def test_a_session_ended_by_an_administrator_says_nothing_and_the_row_is_asked(
    admin: psycopg.Connection[Any],
) -> None:
    run("SELECT 1")
    old = sessions.session_of("worker")
    assert old is not None
    admin.execute("SELECT pg_terminate_backend(%s, 5000)", [old.pid])
    assert settled(lambda: run("SELECT 1")) == FROM_THE_ROW


def test_a_database_that_cannot_be_reached_leaves_it_unknown_within_the_bound(
    proxy: WireProxy, lossy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary, "REREAD_SECONDS", 0.3)
    proxy.ambush(containing("SELECT 42"), Fault.CUT_REPLY, then=lambda: proxy.set_doors(Doors.CLOSED))
    began = time.monotonic()
    assert settled(lambda: run("SELECT 42", lossy), using=lossy) == UNKNOWN
    assert time.monotonic() - began < boundary.REREAD_SECONDS + 2


def test_an_idle_line_that_was_lost_is_found_out_by_asking_again(admin: psycopg.Connection[Any]) -> None:
    name = Tenant.objects.create(slug="asked", name="Asked").name

    def asked() -> str:
        return Tenant.objects.using("worker").get(slug="asked").name

    assert asked() == name
    old = sessions.session_of("worker")
    assert old is not None
    admin.execute("SELECT pg_terminate_backend(%s, 5000)", [old.pid])

    assert ask(asked, give_up_at=time.monotonic() + 5, using="worker") == name


def test_a_question_is_given_up_at_its_bound(proxy: WireProxy, lossy: str) -> None:
    proxy.set_doors(Doors.CLOSED)
    with pytest.raises(DatabaseError):
        ask(lambda: run("SELECT 1", lossy), give_up_at=time.monotonic() + 0.2, using=lossy)


def test_a_question_the_database_refuses_for_good_is_not_asked_again() -> None:
    tries: list[None] = []

    def question() -> None:
        tries.append(None)
        run("SELECT * FROM no_such_table")

    with pytest.raises(DatabaseError):
        ask(question, give_up_at=time.monotonic() + 5, using="worker")
    assert len(tries) == 1


def test_an_old_session_is_ended_and_then_gone() -> None:
    run("SELECT 1", "worker")
    old = sessions.session_of("worker")
    assert old is not None
    line, connections["worker"].connection = connections["worker"].connection, None  # the server knows nothing of it
    assert is_alive(old.pid)

    assert sessions.is_gone(old, "worker")

    until(lambda: not is_alive(old.pid))
    line.close()


def test_a_session_of_another_server_cannot_be_called_gone() -> None:
    run("SELECT 1", "worker")
    here = sessions.session_of("worker")
    assert here is not None
    assert not sessions.is_gone(replace(here, port=1), "worker")
    assert not sessions.is_gone(replace(here, address="192.0.2.1"), "worker")


def test_a_session_of_a_server_that_was_restarted_since_is_gone() -> None:
    run("SELECT 1", "worker")
    here = sessions.session_of("worker")
    assert here is not None
    assert sessions.is_gone(replace(here, server_started=here.server_started - timedelta(days=1)), "worker")
    assert is_alive(here.pid)


def test_a_reused_pid_is_not_ended() -> None:
    run("SELECT 1", "worker")
    run("SELECT 1", "api")
    stranger = sessions.session_of("api")
    assert stranger is not None
    assert sessions.is_gone(replace(stranger, backend_start=stranger.backend_start - timedelta(days=1)), "worker")
    assert is_alive(stranger.pid)


def test_no_session_but_the_latest_is_remembered() -> None:
    run("SELECT 1", "worker")
    first = sessions.session_of("worker")
    connections["worker"].close()
    assert sessions.session_of("worker") == first  # what was lost can still be ended
    run("SELECT 1", "worker")
    assert sessions.session_of("worker") != first
