"""Three machines and everything twice, on each broker: nothing is lost, nothing is sent twice, whoever is cut off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from exports.contracts import Endpoint
from tests.destinations.watcher import watching
from tests.faults.observing import until
from tests.faults.world import a_world
from tests.machines.asking import ask_for, at_rest, claimed_by, nothing_lost_or_doubled
from tests.machines.deployment import ROOM, deployed
from tests.machines.network import clocks_apart, one_machine, require_root, three_machines
from tests.people import a_caller

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from uuid import UUID

    import redis

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack
    from tests.faults.fixtures import Count
    from tests.faults.world import World
    from tests.machines.network import Network
    from tests.rabbit import Rabbit

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher", "auditor"]),
]

FEW, MANY = 100, 5_000
BOUND_SECONDS = 240.0
"""What takes twenty seconds alone, on a machine that others use too."""
SOAK_SECONDS = 7_200.0
TWO_LEASES_SECONDS = 2 * float(ROOM["EXPORT_LEASE_SECONDS"])
SLOTS = 4
"""Of one worker: no more of its deliveries can be under way when it is cut off."""
CLOCKS_APART_MINUTES = 10


@pytest.fixture(params=["redis", "rabbitmq"])
def broker(request: pytest.FixtureRequest, stack: Stack, empty_broker: redis.Redis) -> tuple[str, int]:
    """Return a broker's address and port, empty; RabbitMQ where there is one."""
    assert empty_broker.dbsize() == 0
    if request.param == "redis":
        return stack.broker.url(), stack.broker.port
    rabbit: Rabbit = request.getfixturevalue("rabbit")
    rabbit.empty()
    return rabbit.url(), rabbit.port


def a_partners_world(partner: PartnerAccount, network: Network) -> World:
    return a_world(partner, contacts=200, endpoint=Endpoint(host=network.servers, port=partner.port))


def run_everything(count: int, seconds: float, broker: str, partner: PartnerAccount, directory: Path) -> None:
    """Run so many exports through three workers, two beats, two dispatchers and two web processes."""
    network = one_machine()
    world = a_partners_world(partner, network)
    caller = a_caller(world.tenant)
    with deployed(network, broker, directory) as running:
        asked = ask_for(count, world, caller, running.web)
        until(lambda: running.still_runs() and at_rest(), seconds)
        shares = [len(claimed_by(process.pid)) for process in running.workers]
    assert nothing_lost_or_doubled(asked, world, unknown_at_most=0) == 0
    assert sum(shares) == count
    assert all(shares), shares


def test_three_workers_two_beats_two_dispatchers_and_two_web_processes_lose_and_double_nothing(
    broker: tuple[str, int], partner: PartnerAccount, tmp_path: Path
) -> None:
    with watching(partner.directory) as seen:
        run_everything(FEW, BOUND_SECONDS, broker[0], partner, tmp_path)
    finals = [name for name, _ in seen.events if name.startswith("contacts-")]
    assert {seen.appearances(name) for name in finals} == {1}


@pytest.mark.soak
def test_five_thousand_exports_on_three_workers_and_everything_twice(
    broker: tuple[str, int], partner: PartnerAccount, tmp_path: Path
) -> None:
    run_everything(MANY, SOAK_SECONDS, broker[0], partner, tmp_path)


def run_apart(
    count: int, seconds: float, broker: tuple[str, int], *, stack: Stack, partner: PartnerAccount, directory: Path
) -> int:
    """Do the same on three machines whose clocks differ, and cut one off in the middle of its work."""
    require_root()
    clocks = clocks_apart(CLOCKS_APART_MINUTES)
    ports = (stack.postgres.port, broker[1], partner.port)
    with three_machines(ports, directory, clocks) as network:
        world = a_partners_world(partner, network)
        caller = a_caller(world.tenant)
        with deployed(network, broker[0], directory) as running:
            worker, machine = running.workers[-1], network.machines[-1]
            asked = ask_for(count // 2, world, caller, running.web)
            until(lambda: running.still_runs() and bool(claimed_by(worker.pid)), seconds)
            with machine.cut_off():
                asked |= ask_for(count - count // 2, world, caller, running.web)
                _wait(TWO_LEASES_SECONDS)
                worker.wait_for("heartbeat_missed")
            until(lambda: running.still_runs() and at_rest(), seconds)
            before = claimed_by(worker.pid)
            until(
                lambda: _works_again(lambda: ask_for(1, world, caller, running.web), asked, worker.pid, before), seconds
            )
            until(lambda: running.still_runs() and at_rest(), seconds)
        return nothing_lost_or_doubled(asked, world, unknown_at_most=SLOTS)


def _works_again(ask: Callable[[], set[UUID]], asked: set[UUID], pid: int, before: set[UUID]) -> bool:
    """Ask for one more export; whether the worker that was cut off has taken one since."""
    asked |= ask()
    return bool(claimed_by(pid) - before)


def _wait(seconds: float) -> None:
    """Let time pass that is itself what is tested: the cut lasts for two leases."""
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, seconds + 5)


def test_on_three_machines_with_clocks_ten_minutes_apart_one_is_cut_off_for_two_leases_and_nothing_is_lost_or_doubled(
    broker: tuple[str, int], stack: Stack, partner: PartnerAccount, tmp_path: Path, count: Count
) -> None:
    with watching(partner.directory) as seen:
        unknown = run_apart(FEW, BOUND_SECONDS, broker, stack=stack, partner=partner, directory=tmp_path)
    finals = [name for name, _ in seen.events if name.startswith("contacts-")]
    assert {seen.appearances(name) for name in finals} == {1}
    for _ in range(unknown):
        count("exports of a machine that was cut off whose outcome is unknown")


@pytest.mark.soak
def test_five_thousand_exports_on_three_machines_with_clocks_apart_and_one_cut_off(
    broker: tuple[str, int], stack: Stack, partner: PartnerAccount, tmp_path: Path
) -> None:
    run_apart(MANY, SOAK_SECONDS, broker, stack=stack, partner=partner, directory=tmp_path)
