"""A crash at every point: an exception, a lost line, SIGKILL. Ordinary recovery follows, and the promises hold."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections

from exports import crashpoints
from tests.faults.afterwards import assert_promises_hold, come_to_rest
from tests.faults.points import all_points
from tests.faults.scenarios import ALIASES, BY_PEOPLE, SCENARIOS, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.devstack.partner import PartnerAccount
    from tests.faults.fixtures import Count

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

CASES = [(scenario, point) for scenario in SCENARIOS for point in scenario.points]
each_point = pytest.mark.parametrize("case", CASES, ids=[f"{scenario.name}-{point}" for scenario, point in CASES])


@pytest.fixture(autouse=True)
def _as_before(settings: Any) -> Iterator[None]:
    """Leave nothing armed, and the limits as they were."""
    settings.EXPORTS = settings.EXPORTS
    yield
    crashpoints.disarm()


def test_every_point_in_the_source_is_crashed_at() -> None:
    assert all_points() == {point for _, point in CASES} | BY_PEOPLE


def test_a_point_that_nobody_armed_does_nothing() -> None:
    crashpoints.reach("no such point")


@each_point
def test_an_exception_at_a_point_breaks_no_promise(
    case: tuple[Scenario, str], partner: PartnerAccount, count: Count
) -> None:
    count("crash points: an exception at each")
    crash(case, partner, lambda _using: crashpoints.ACTIONS["raise"])


@each_point
def test_a_line_lost_at_a_point_breaks_no_promise(
    case: tuple[Scenario, str], partner: PartnerAccount, count: Count
) -> None:
    count("crash points: a lost line at each")
    crash(case, partner, lambda using: lambda: lose_line(using))


def crash(case: tuple[Scenario, str], partner: PartnerAccount, how: Callable[[str], Callable[[], None]]) -> None:
    """Act with a crash at the point; then let the deployment go on, and look at everything."""
    scenario, point = case
    world = scenario.world(partner)
    settings.EXPORTS = scenario.limits()
    job_id = scenario.arrange(world)
    struck: list[str] = []
    action = how(scenario.role)

    def once() -> None:
        if not struck:
            struck.append(point)
            action()

    crashpoints.arm(point, once)
    with suppress(crashpoints.Crashed, DatabaseError, InterfaceError):
        scenario.act(job_id, scenario.role)
    assert struck == [point]
    crashpoints.disarm()

    job = come_to_rest(scenario, job_id)
    assert job.status in scenario.ends
    assert_promises_hold(world, job)


def lose_line(using: str) -> None:
    """Shut this thread's line to the database, if it has one."""
    raw = connections[using].connection
    if raw is not None and not raw.closed:
        with suppress(OSError), socket.socket(fileno=os.dup(raw.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
