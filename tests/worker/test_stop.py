"""The stop signal: set once, from any thread, and never a burden to whoever sets it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from exports.worker.stop import StopSignal, StopWhy

if TYPE_CHECKING:
    import pytest


def test_the_first_reason_stays() -> None:
    stop = StopSignal()
    assert (stop.is_set, stop.why) == (False, None)

    stop.set(StopWhy.LEASE_LOST)
    stop.set(StopWhy.STOP_REQUESTED)

    assert (stop.is_set, stop.why) == (True, StopWhy.LEASE_LOST)


def test_what_is_registered_runs_once_when_the_signal_is_set() -> None:
    stop, calls = StopSignal(), list[str]()
    stop.on_set(lambda: calls.append("first"))
    stop.on_set(lambda: calls.append("second"))
    assert calls == []

    stop.set(StopWhy.DRAINING)
    stop.set(StopWhy.DRAINING)

    assert calls == ["first", "second"]


def test_what_comes_after_the_signal_runs_at_once() -> None:
    stop, calls = StopSignal(), list[bool]()
    stop.set(StopWhy.DRAINING)

    take_back = stop.on_set(lambda: calls.append(stop.is_set))
    take_back()

    assert calls == [True]


def test_what_was_taken_back_does_not_run() -> None:
    stop, calls = StopSignal(), list[str]()
    take_back = stop.on_set(lambda: calls.append("taken back"))
    stop.on_set(lambda: calls.append("kept"))

    take_back()
    take_back()
    stop.set(StopWhy.DRAINING)

    assert calls == ["kept"]


def test_a_callback_that_fails_keeps_no_other_from_running(caplog: pytest.LogCaptureFixture) -> None:
    stop, calls = StopSignal(), list[str]()

    def fail() -> None:
        raise RuntimeError

    stop.on_set(fail)
    stop.on_set(lambda: calls.append("ran"))
    stop.set(StopWhy.STOP_REQUESTED)

    assert calls == ["ran"]
    assert [record.message for record in caplog.records] == ["stop_callback_failed"]


def test_a_callback_may_ask_and_register_again_without_a_deadlock() -> None:
    stop, calls = StopSignal(), list[StopWhy | None]()
    stop.on_set(lambda: stop.on_set(lambda: calls.append(stop.why)))

    stop.set(StopWhy.STOP_REQUESTED)

    assert calls == [StopWhy.STOP_REQUESTED]


def test_waiting_ends_with_the_signal_or_with_its_bound() -> None:
    stop = StopSignal()
    assert stop.wait(0.01) is False

    thread = threading.Timer(0.01, stop.set, [StopWhy.DRAINING])
    thread.start()

    assert stop.wait(20) is True
    thread.join()


def race(stop: StopSignal, calls: list[int]) -> None:
    """Set the signal for every reason and register three callbacks, all in the same instant."""
    start = threading.Barrier(6)

    def setting(why: StopWhy) -> None:
        start.wait(20)
        stop.set(why)

    def registering(number: int) -> None:
        start.wait(20)
        stop.on_set(lambda: calls.append(number))

    threads = [threading.Thread(target=setting, args=[why]) for why in StopWhy]
    threads += [threading.Thread(target=registering, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)


def test_of_many_threads_one_gives_the_reason_and_each_callback_runs_once() -> None:
    for _ in range(200):
        stop, calls = StopSignal(), list[int]()

        race(stop, calls)

        assert stop.why is not None
        assert sorted(calls) == [0, 1, 2]
