"""What a process does by itself: again and again, whatever a run meets; and each host's worker cleans its own disk."""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from config.celery import own_ticks
from exports.ticking import Ticker
from exports.worker.spool import file_name
from tests.faults.fixtures import _no_session_outlives_its_test, empty_broker, pytest_configure
from tests.faults.observing import until
from tests.faults.processes import a_worker, worker_environment

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.stack import Stack

__all__ = ["_no_session_outlives_its_test", "empty_broker", "pytest_configure"]


def test_a_tick_comes_at_once_and_again_whatever_the_last_one_met(caplog: pytest.LogCaptureFixture) -> None:
    ticks = threading.Semaphore(0)

    def work() -> None:
        ticks.release()
        raise RuntimeError("the disk is gone")

    with caplog.at_level(logging.WARNING, "exports.ticking"):
        ticker = Ticker("clean", work, every_seconds=0.01).start()
        came = [ticks.acquire(timeout=20) for _ in range(3)]
        ticker.stop()

    assert came == [True, True, True]
    told: Any = caplog.records[0]
    assert (told.getMessage(), told.work, told.words) == ("tick_failed", "clean", "the disk is gone")


def test_nothing_ticks_after_the_end_and_the_end_waits_for_the_tick_in_hand() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.2)  # the work itself
        ended.set()

    ticker = Ticker("clean", work, every_seconds=1000).start()
    assert begun.wait(20)
    ticker.stop()
    assert ended.is_set()


@pytest.mark.parametrize(("role", "names"), [("worker", 1), ("acknowledger", 1), ("api", 0)])
def test_each_role_does_by_itself_what_nobody_can_do_in_its_place(settings: Any, role: str, names: int) -> None:
    settings.EXPORT_ROLE = role
    assert len(own_ticks()) == names


@pytest.mark.processes
@pytest.mark.usefixtures("empty_broker")
@pytest.mark.django_db(transaction=True, databases=["default", "worker"])
def test_two_workers_with_spools_of_their_own_each_clean_theirs_without_beat(stack: Stack, tmp_path: Path) -> None:
    left = [a_leftover(tmp_path / host) for host in ("one", "other")]
    first, second = (worker_environment(stack.broker.url(), each.parent) for each in left)
    with a_worker(first, tmp_path / "first.log"), a_worker(second, tmp_path / "second.log"):
        until(lambda: not any(each.exists() for each in left), 60)


def a_leftover(spool: Path) -> Path:
    """Leave a file of an attempt that nobody knows, older than any attempt."""
    spool.mkdir(mode=0o700)
    path = spool / file_name(uuid.uuid4(), uuid.uuid4())
    path.write_text("contacts")
    path.chmod(0o600)
    os.utime(path, (0, 0))
    return path
