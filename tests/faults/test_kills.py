"""SIGKILL at every point, of a real process: what it held is nobody's, and what it had not said is not known."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
from django.conf import settings

from exports import dispatcher, scavenger
from tests.faults.afterwards import assert_promises_hold, come_to_rest
from tests.faults.processes import a_step, a_worker, worker_environment
from tests.faults.scenarios import ALIASES, SCENARIOS, Scenario, wake

if TYPE_CHECKING:
    import uuid
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack
    from tests.faults.fixtures import Count
    from tests.faults.processes import Process

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=ALIASES),
]

CASES = [(scenario, point) for scenario in SCENARIOS for point in scenario.points]
OFTEN = {"deliver", "dispatch", "resolve"}
"""The ways on which something outside the database happens."""
KILL_SECONDS = 60.0


def a_case(scenario: Scenario, point: str) -> ParameterSet:
    """Leave the ways that a transaction of one statement protects to the long run; each is raised at everywhere."""
    marks = [] if scenario.name in OFTEN else [pytest.mark.soak]
    return pytest.param((scenario, point), id=f"{scenario.name}-{point}", marks=marks)


@pytest.mark.parametrize("case", [a_case(*case) for case in CASES])
def test_a_process_killed_at_a_point_breaks_no_promise(
    case: tuple[Scenario, str], partner: PartnerAccount, stack: Stack, spool: Path, count: Count
) -> None:
    count("crash points: a real process killed at each")
    scenario, point = case
    world = scenario.world(partner)
    settings.EXPORTS = scenario.limits()
    job_id = scenario.arrange(world)

    killed_at(scenario, point, job_id, stack, spool)

    job = come_to_rest(scenario, job_id)
    take_away_what_was_left(spool)
    assert job.status in scenario.ends
    assert_promises_hold(world, job)


def killed_at(scenario: Scenario, point: str, job_id: uuid.UUID, stack: Stack, spool: Path) -> None:
    """Let a real process act until it is killed at the point."""
    told = {
        "EXPORT_CRASH_POINTS": f"{point}=kill",
        "EXPORT_SOURCE": scenario.source,
        "EXPORT_MAX_ATTEMPTS": str(scenario.max_attempts),
    }
    environment = worker_environment(stack.broker.url(), spool, scenario.role, **told)
    log = spool.parent / "killed.log"
    if scenario.act is not wake:
        with a_step(scenario.name, job_id, environment, log) as step:
            assert_killed(step)
        return
    with a_worker(environment, log) as worker:
        dispatcher.run_once(10, "dispatcher")
        assert_killed(worker)


def assert_killed(process: Process) -> None:
    assert process.wait(KILL_SECONDS) == -signal.SIGKILL, process.said()


def take_away_what_was_left(spool: Path) -> None:
    """Let the scavenger come by when the files of dead attempts are old enough."""
    long_ago = time.time() - 3600
    for file in spool.iterdir():
        os.utime(file, (long_ago, long_ago))
    scavenger.run_once(100, using="worker")
