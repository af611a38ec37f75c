"""A process's own row: written by nobody else's login, missed when the process hangs, gone when it is long gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.models import ProcessHeartbeat
from exports.observability import heartbeats
from exports.observability.heartbeats import Heartbeat, Progress, forget_gone
from tests.faults.fixtures import LOSSY
from tests.faults.observing import until
from tests.faults.relay import Doors
from tests.observability.seeing import age_of, names, seen

if TYPE_CHECKING:
    from tests.faults.wire_proxy import WireProxy

pytestmark = pytest.mark.django_db(
    transaction=True, databases=["default", "api", "worker", "dispatcher", "acknowledger", LOSSY]
)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "EVERY_SECONDS", 0.05)


def misses(caplog: pytest.LogCaptureFixture) -> int:
    return [record.message for record in caplog.records].count("heartbeat_missed")


@pytest.mark.parametrize("alias", ["api", "worker", "dispatcher", "acknowledger"])
def test_a_process_beats_under_its_own_login_again_and_again(alias: str) -> None:
    heart = Heartbeat("kind", using=alias).start()
    try:
        until(lambda: heart.process_id in names())
        first = ProcessHeartbeat.objects.get()
        until(lambda: ProcessHeartbeat.objects.get().seen_at > first.seen_at)
    finally:
        heart.stop()

    assert (first.role, ProcessHeartbeat.objects.get().started_at) == (f"exports_{alias}", first.started_at)


def test_a_process_whose_loop_no_longer_comes_round_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Progress()
    heart = Heartbeat("dispatcher", is_well=loop.is_recent, using="dispatcher").start()
    try:
        until(lambda: heart.process_id in names())
        monkeypatch.setattr(heartbeats, "RECENT_SECONDS", 0.0)
        until(lambda: age_of(heart.process_id) > 0.3)

        monkeypatch.setattr(heartbeats, "RECENT_SECONDS", 15.0)
        loop.made()
        until(lambda: age_of(heart.process_id) < 0.3)
    finally:
        heart.stop()


def test_a_process_vouches_for_its_queues_while_it_is_full() -> None:
    full: list[str] = []
    heart = Heartbeat("worker", also=lambda: full, using="worker").start()
    try:
        until(lambda: names() == {heart.process_id})
        full.append("queue:exports")
        until(lambda: names() == {heart.process_id, "queue:exports"})
    finally:
        heart.stop()


def test_a_heart_outlives_a_database_that_was_away_and_says_so_once(
    lossy: str, proxy: WireProxy, caplog: pytest.LogCaptureFixture
) -> None:
    heart = Heartbeat("worker", using=lossy).start()
    try:
        until(lambda: heart.process_id in names())
        proxy.set_doors(Doors.RESET)
        proxy.cut()
        until(lambda: misses(caplog) == 1 and age_of(heart.process_id) > 0.5)
        assert misses(caplog) == 1

        proxy.set_doors(Doors.OPEN)
        until(lambda: age_of(heart.process_id) < 0.3)
    finally:
        heart.stop()


def test_who_has_not_been_seen_for_an_hour_is_forgotten_and_nobody_else() -> None:
    seen("worker:gone", seconds_ago=3601)
    seen("worker:silent", seconds_ago=3000)

    assert forget_gone("worker") == 1
    assert names() == {"worker:silent"}
