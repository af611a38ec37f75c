"""A connection is lost while its write waits for a lock; the write must never be applied after the row was believed.

The zombie: the worker's line is gone, the server's session lives on, waits, gets its lock and commits. So the
old session is ended before a re-read is believed. The negative control leaves it alive, and the worker then
knows something else than the row says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from exports import sessions
from tests.faults.boundaries import BOUNDARIES, Boundary
from tests.faults.observing import held_row, is_alive, until, wait_until_one_is_blocked_by
from tests.faults.wire_proxy import Fault

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tests.faults.boundaries import Situation
    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"])

WAITS = [write for write in BOUNDARIES if isinstance(write.statement, str) and write.name != "evidence"]
"""Evidence waits for no row: its foreign key check passes one that is held; nor does a COMMIT."""
GOES_ON = [write for write in WAITS if not write.tries_again()]
"""After a write that was not applied, these leave the next step to their caller."""


@dataclass
class Zombie:
    """The session that was left waiting, and the write that lost it."""

    pid: int
    answer: Future[Any]


def make_zombie(write: Boundary, at: Situation, holder: int, proxy: WireProxy, waking: Waking) -> Zombie:
    """Start the write, and lose its line once the server has it waiting for the row."""
    found: list[int] = []

    laid = proxy.ambush(
        write.statement, Fault.LOSE_CLIENT, then=lambda: found.append(wait_until_one_is_blocked_by(holder))
    )
    answer = waking.call(lambda: write.write(at), using="lossy")
    laid.wait()
    return Zombie(found[0], answer)


@pytest.mark.parametrize("write", WAITS, ids=[write.name for write in WAITS])
def test_a_write_left_waiting_for_the_row_is_ended_before_the_row_is_believed(
    write: Boundary, proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    at = write.situation(world, lossy)
    with held_row(at.job) as holder:
        zombie = make_zombie(write, at, holder, proxy, waking)
        until(lambda: not is_alive(zombie.pid))

    assert zombie.answer.result() == write.refused_once
    assert at.status() == (write.after if write.tries_again() else write.before)


@pytest.fixture
def _zombies_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the guard away: every old session counts as gone."""
    monkeypatch.setattr(sessions, "is_gone", lambda _old, _using: True)


@pytest.mark.usefixtures("_zombies_live")
@pytest.mark.parametrize("write", GOES_ON, ids=[write.name for write in GOES_ON])
def test_control_a_write_that_is_not_ended_is_applied_after_the_worker_was_told_it_was_not(
    write: Boundary, proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    at = write.situation(world, lossy)
    with held_row(at.job) as holder:
        zombie = make_zombie(write, at, holder, proxy, waking)
        told = zombie.answer.result()
        assert is_alive(zombie.pid)

    assert told == write.refused_once
    until(lambda: at.status() == write.after)
