"""The stop watcher: it sees stop requests soon, for every attempt of its process with one query."""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports.conf import limits
from exports.states import Status
from exports.worker.watcher import StopWatcher
from tests.faults.boundaries import running
from tests.faults.observing import held_contacts, other_sessions, until
from tests.faults.relay import Doors
from tests.faults.scenarios import BY_NAME
from tests.faults.world import kinds, now

if TYPE_CHECKING:
    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"]),
    pytest.mark.usefixtures("short"),
]
SEEN_SECONDS = 10.0


def watch(watcher: StopWatcher, job: ExportJob) -> threading.Event:
    """Watch a claimed job; the event is set when a stop is seen."""
    seen = threading.Event()
    assert job.attempt_id is not None
    watcher.watch(job.id, job.attempt_id, seen.set)
    return seen


def cancel(job: ExportJob) -> None:
    BY_NAME["cancel"].act(job.id, "api")


def test_a_stop_request_is_seen_by_the_attempt_it_is_for_and_by_no_other(world: World) -> None:
    watcher = StopWatcher("worker")
    stopped, other = running(world), running(world)
    seen, not_seen = watch(watcher, stopped), watch(watcher, other)
    cancel(stopped)
    assert seen.wait(SEEN_SECONDS)
    assert not not_seen.is_set()
    for job in (stopped, other):
        watcher.forget(job.attempt_id)  # type: ignore[arg-type] # claimed


def test_a_stop_request_for_a_later_attempt_is_not_an_earlier_ones(world: World) -> None:
    watcher = StopWatcher("worker")
    job = running(world)
    earlier = threading.Event()
    earlier_id = uuid.uuid4()
    watcher.watch(job.id, earlier_id, earlier.set)
    current = watch(watcher, job)
    cancel(job)
    assert current.wait(SEEN_SECONDS)
    assert not earlier.is_set()
    watcher.forget(earlier_id)


def test_an_attempt_that_was_forgotten_hears_nothing(world: World) -> None:
    watcher = StopWatcher("worker")
    forgotten, other = running(world), running(world)
    not_heard, heard = watch(watcher, forgotten), watch(watcher, other)
    watcher.forget(forgotten.attempt_id)  # type: ignore[arg-type] # claimed
    cancel(forgotten)
    cancel(other)
    assert heard.wait(SEEN_SECONDS)
    assert not not_heard.is_set()


def test_an_outage_of_the_database_is_outlived(proxy: WireProxy, lossy: str, world: World) -> None:
    watcher = StopWatcher(lossy)
    job = running(world)
    proxy.set_doors(Doors.RESET)
    seen = watch(watcher, job)
    until(lambda: proxy.accepted >= 2)
    cancel(job)
    proxy.set_doors(Doors.OPEN)
    assert seen.wait(SEEN_SECONDS)


def test_with_nobody_to_watch_no_session_is_kept(world: World) -> None:
    watcher = StopWatcher("worker")
    job = running(world)
    seen = watch(watcher, job)
    cancel(job)
    assert seen.wait(SEEN_SECONDS)  # and it is forgotten by that
    for alias in ("api", "worker"):
        connections[alias].close()
    until(lambda: not any(login == "exports_worker" for _, login, _ in other_sessions()))


def test_a_build_that_waits_for_a_lock_is_stopped_within_the_poll_and_a_second(world: World, waking: Waking) -> None:
    job = world.queued()
    with held_contacts():
        disposition = waking.start(job)
        until(lambda: now(job).status == Status.RUNNING)
        cancel(job)
        asked_at = time.monotonic()
        disposition.result()
        took = time.monotonic() - asked_at

    assert now(job).status == Status.STOPPED
    assert kinds(job) == ["Claimed", "Stopped"]
    assert took < limits().stop_poll_seconds + 1
