"""Each boundary write, each way to lose its answer: what the worker then knows is what the row says."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any

import pytest

from exports import boundary
from exports.states import Status
from tests.faults import boundaries
from tests.faults.boundaries import BOUNDARIES, Boundary
from tests.faults.observing import PATIENCE_SECONDS, held_tables, until, wait_until_one_is_blocked_by
from tests.faults.relay import Doors
from tests.faults.wire_proxy import Fault

if TYPE_CHECKING:
    import psycopg

    from tests.faults.boundaries import Situation
    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"])
LAST = [write for write in BOUNDARIES if write.tries_again()]
"""The attempt's last writes, which are tried for as long as its process may."""
each_write = pytest.mark.parametrize("write", BOUNDARIES, ids=[write.name for write in BOUNDARIES])


@each_write
def test_an_answer_lost_after_the_commit_is_known_as_applied_from_the_row(
    write: Boundary, proxy: WireProxy, lossy: str, world: World
) -> None:
    at = write.situation(world, lossy)
    laid = proxy.ambush(write.statement, Fault.CUT_REPLY)

    assert write.write(at) == write.applied

    laid.wait()
    assert_applied_once(write, at)


@each_write
def test_a_request_lost_on_its_way_is_known_as_not_applied_from_the_row(
    write: Boundary, proxy: WireProxy, lossy: str, world: World
) -> None:
    at = write.situation(world, lossy)
    laid = proxy.ambush(write.statement, Fault.DROP_REQUEST)

    assert write.write(at) == write.refused_once

    laid.wait()
    if write.tries_again():
        assert_applied_once(write, at)
    else:
        assert_untouched(write, at)


@each_write
def test_without_an_answer_from_the_write_and_from_the_row_nothing_is_known(
    write: Boundary, proxy: WireProxy, lossy: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary, "REREAD_SECONDS", 0.3)
    monkeypatch.setattr(boundaries, "PATIENCE_SECONDS", 0.3)
    at = write.situation(world, lossy)
    laid = proxy.ambush(write.statement, Fault.CUT_REPLY, then=lambda: proxy.set_doors(Doors.CLOSED))

    assert write.write(at) == write.unknown

    laid.wait()
    assert_applied_once(write, at)


@pytest.mark.parametrize("write", LAST, ids=[write.name for write in LAST])
def test_an_outage_longer_than_a_reread_is_outlasted_and_what_was_applied_is_found_and_not_written_again(
    write: Boundary, proxy: WireProxy, lossy: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary, "REREAD_SECONDS", 0.1)
    at = write.situation(world, lossy)
    refused = threading.Event()

    def go_away() -> None:
        proxy.set_doors(Doors.RESET)
        seen = proxy.accepted
        threading.Thread(target=come_back, args=(proxy, seen, refused)).start()

    proxy.ambush(write.statement, Fault.CUT_REPLY, then=go_away)

    assert write.write(at) == write.applied

    assert refused.is_set()
    assert_applied_once(write, at)


def come_back(proxy: WireProxy, seen: int, refused: threading.Event) -> None:
    """Open the doors again after several tries were refused."""
    until(lambda: proxy.accepted >= seen + 4)
    refused.set()
    proxy.set_doors(Doors.OPEN)


@each_write
@pytest.mark.usefixtures("impatient")
def test_an_answer_that_is_swallowed_is_given_up_and_asked_of_the_row(
    write: Boundary, proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    at = write.situation(world, lossy)
    laid = proxy.ambush(write.statement, Fault.BLACK_HOLE)
    answer = waking.call(lambda: write.write(at), using=lossy)
    laid.wait()

    done, _ = wait([answer], PATIENCE_SECONDS)
    proxy.cut()  # whoever would wait for ever is let go
    assert done, "it waited for an answer that nobody sends"

    assert answer.result() == write.applied
    assert_applied_once(write, at)


@each_write
def test_a_session_ended_while_its_write_waits_is_known_as_not_applied_from_the_row(
    write: Boundary, lossy: str, world: World, waking: Waking, admin: psycopg.Connection[Any]
) -> None:
    at = write.situation(world, lossy)
    with held_tables() as holder:
        answer = waking.call(lambda: write.write(at), using=lossy)
        end_session(admin, wait_until_one_is_blocked_by(holder))

    assert answer.result() == write.refused_once
    assert at.status() == (write.after if write.tries_again() else write.before)


def end_session(admin: psycopg.Connection[Any], pid: int) -> None:
    """End a session as an administrator does, and wait until it is gone."""
    assert admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid]).fetchone() == (True,)


def assert_applied_once(write: Boundary, at: Situation) -> None:
    assert at.status() == write.after
    if write.event is not None:
        assert at.events(write.event) == 1


def assert_untouched(write: Boundary, at: Situation) -> None:
    assert at.status() == write.before
    assert write.event is None or at.events(write.event) == 0
    assert write.before is not Status.QUEUED or at.job.attempt_count == 0
