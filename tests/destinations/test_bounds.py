"""Bounds that come from outside: the watchdog, and calls on a share that may hang."""

import gc
import os
import threading
import time
import weakref
from functools import partial
from pathlib import Path

import pytest

from exports.destinations.bounded import BoundedCalls
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Surroundings, never, no_progress
from exports.destinations.share import Share
from exports.destinations.watchdog import Watchdog
from exports.evidence import Accepted, NoReply, Refused, Trouble, Unanswered
from tests.destinations.partners import Partner


def _wait(event: threading.Event) -> None:
    event.wait(30)


def test_an_action_runs_when_its_time_has_come_and_says_so() -> None:
    ran = threading.Event()
    watch = Watchdog().watch(0.01, ran.set)
    assert ran.wait(5)
    assert watch.fired


def test_a_canceled_action_never_runs() -> None:
    dog, ran, later = Watchdog(), threading.Event(), threading.Event()
    dog.watch(0.05, ran.set).cancel()
    dog.watch(0.15, later.set)
    assert later.wait(5)
    assert not ran.is_set()


def test_a_canceled_watch_keeps_nothing_alive_until_its_time() -> None:
    class Connection:
        def break_off(self) -> None:
            raise AssertionError("it was canceled")

    dog, connection = Watchdog(), Connection()
    gone = weakref.ref(connection)
    dog.watch(3_600, connection.break_off).cancel()
    del connection
    gc.collect()
    assert gone() is None


def test_a_shorter_watch_is_not_held_up_by_a_longer_one_or_by_an_action_that_hangs() -> None:
    dog, hanging, ran = Watchdog(), threading.Event(), threading.Event()
    dog.watch(3_600, lambda: None)
    dog.watch(0.01, partial(_wait, hanging))
    dog.watch(0.05, ran.set)
    assert ran.wait(5)
    hanging.set()


def test_many_watches_run_each_once() -> None:
    dog, lock, ran = Watchdog(), threading.Lock(), []

    def run(number: int) -> None:
        with lock:
            ran.append(number)

    for number in range(200):
        dog.watch(0.001 * (number % 7), lambda number=number: run(number))  # type: ignore[misc]
    ends_at = time.monotonic() + 10
    while len(ran) < 200 and time.monotonic() < ends_at:
        threading.Event().wait(0.01)
    assert sorted(ran) == list(range(200))


def test_a_call_that_hangs_is_left_behind_and_the_caller_goes_on() -> None:
    calls, released = BoundedCalls("test"), threading.Event()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        calls.call(lambda: released.wait(30), 0.1)
    assert time.monotonic() - began < 5
    released.set()
    calls.end(lambda: None)


def test_what_a_call_raises_and_returns_reaches_its_caller() -> None:
    calls = BoundedCalls("test")
    assert calls.call(lambda: 7, 5) == 7
    with pytest.raises(FileNotFoundError):
        calls.call(lambda: os.stat("/no/such/file"), 5)  # noqa: PTH116 - any system call will do
    calls.end(lambda: None)


@pytest.fixture
def partner(tmp_path: Path) -> Partner:
    root = tmp_path / "share"
    root.mkdir()
    groups = {
        "endpoint": {"kind": "directory"},
        "paths": {"directory": str(root)},
        "limits": {"idle_timeout_seconds": 1},
    }
    return Partner("directory", root, groups)


def test_a_share_that_hangs_leaves_the_session_in_doubt_and_answers_nothing_more(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, released = partner.open(), threading.Event()
    monkeypatch.setattr(Share, "size_of_final", lambda *_: released.wait(30))
    seen = session.look("x.csv")
    assert isinstance(seen, Unanswered)
    assert seen.trouble is Trouble.TIMEOUT
    assert session.doubtful
    assert isinstance(session.publish("t", "x.csv", overwrite=False), NoReply)
    released.set()
    session.close()


def test_an_input_output_error_of_a_share_is_no_answer_because_it_may_have_happened(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = partner.open()

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Share, "link", broken)
    answer = session.publish("t", "x.csv", overwrite=False)
    session.close()
    assert isinstance(answer, NoReply)


def test_a_link_that_a_network_share_made_although_it_reports_the_name_as_taken_is_accepted(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, real = partner.open(), os.link

    def twice(*names: str, **options: object) -> None:
        """Make the link and report it as a lost answer's repetition does."""
        real(*names, **options)  # type: ignore[arg-type]
        real(*names, **options)  # type: ignore[arg-type]

    (partner.root / "t").write_bytes(b"x")
    monkeypatch.setattr(os, "link", twice)
    assert session.publish("t", "x.csv", overwrite=False) == Accepted()
    (partner.root / "u").write_bytes(b"y")
    assert isinstance(session.publish("u", "x.csv", overwrite=False), Refused)
    session.close()
    assert (partner.root / "x.csv").read_bytes() == b"x"


@pytest.mark.parametrize("roots", [(), (Path("/nowhere"),)])
def test_a_directory_outside_the_allowed_roots_is_refused(partner: Partner, roots: tuple[Path, ...]) -> None:
    outside = Partner(partner.name, partner.root, partner.groups, surroundings=Surroundings(share_roots=roots))
    with pytest.raises(CouldNotConnect) as caught:
        outside.open()
    assert caught.value.kind is ConnectTrouble.ADDRESS_NOT_ALLOWED


def test_a_link_out_of_the_allowed_roots_is_followed_before_it_is_judged(partner: Partner, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "escape").symlink_to(partner.root)
    groups = {**partner.groups, "paths": {"directory": str(allowed / "escape")}}
    with pytest.raises(CouldNotConnect):
        Partner("directory", partner.root, groups, surroundings=Surroundings(share_roots=(allowed,))).open()


def test_a_directory_that_does_not_exist_is_said(partner: Partner) -> None:
    partner.root.rmdir()
    with pytest.raises(CouldNotConnect) as caught:
        partner.open()
    assert caught.value.kind is ConnectTrouble.DIRECTORY_UNUSABLE


def test_a_read_only_share_refuses_with_a_code(partner: Partner, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("permissions do not bind this account")
    partner.root.chmod(0o500)
    session = partner.open()
    source = tmp_path / "source"
    source.write_bytes(b"x")
    done = session.upload(source, 1, "t", progress=no_progress, abandon=never)
    session.close()
    partner.root.chmod(0o700)
    assert done.code == 3  # type: ignore[union-attr]
