"""Real processes: beat finds the request, a worker takes it, and one killed in the middle blocks nobody for long."""

from __future__ import annotations

import signal
import socket
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from exports.actions.request_probe import Requested, request_probe
from exports.contracts import Contract, PublishMode
from exports.models import ProbeResult, ProbeRun
from exports.models.base import ClockTimestamp
from exports.probing import State, activation_problems, latest
from tests.factories import ContractFactory
from tests.faults.observing import until
from tests.faults.processes import START_SECONDS, worker_environment
from tests.observability.test_canary_processes import QUIET, a_celery

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack
    from exports.models import DestinationContract
    from tests.faults.processes import Process
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"]),
]


@contextmanager
def working(stack: Stack, spool: Path, name: str = "first") -> Iterator[Process]:
    """Run a maintenance worker and beat, with logs of this name; yield the worker."""
    environment = worker_environment(stack.broker.url(), spool)
    host = f"{spool.parent.name}-{name}@here"
    told = ("worker", "-Q", "maintenance", "-c", "2", "-n", host, *QUIET)
    beat = ("beat", "--pidfile=", "--loglevel", "INFO")
    with (
        a_celery(environment, spool.parent / f"{name}-worker.log", *told, ready="ready.") as worker,
        a_celery(environment, spool.parent / f"{name}-beat.log", *beat, ready="beat: Starting"),
    ):
        yield worker


def agreed(world: World, account: PartnerAccount, **groups: Any) -> DestinationContract:
    """Record the next version of the world's contract, with a scratch folder and these fields changed."""
    (account.directory / "scratch").mkdir(exist_ok=True)
    terms = {**world.contract.terms}
    for name, group in {"paths": {"scratch_directory": "/scratch"}, **groups}.items():
        terms[name] = {**terms[name], **group}
    made: DestinationContract = ContractFactory.create(
        destination=world.destination,
        version=world.destination.contracts.count() + 1,
        terms=Contract.from_json(terms).to_json(),
    )
    return made


def asked(contract: DestinationContract) -> Requested:
    answer = request_probe(contract.destination_id, "user:ann", "api", contract=contract)
    assert isinstance(answer, Requested)
    return answer


def test_a_request_is_found_run_and_recorded_by_the_processes_there_are(
    stack: Stack, spool: Path, world: World, partner: PartnerAccount
) -> None:
    contract = agreed(world, partner)
    request = asked(contract).request
    with working(stack, spool):
        until(lambda: ProbeResult.objects.filter(request=request).exists(), START_SECONDS)
    assert ProbeResult.objects.get(request=request).proposed_mode == PublishMode.HARDLINK_REMOVE
    assert activation_problems(contract.destination_id, "api", contract) == []
    assert list((partner.directory / "scratch").iterdir()) == []


def test_a_worker_killed_in_the_middle_leaves_a_lost_test_and_the_next_one_runs(
    stack: Stack, spool: Path, world: World, partner: PartnerAccount
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = agreed(world, partner, endpoint={"port": silent.getsockname()[1]})
        asked(hanging)
        with working(stack, spool) as worker:
            until(ProbeRun.objects.exists, START_SECONDS)
            worker.send(signal.SIGKILL)
            worker.wait()
    found = latest(world.destination.id, "api")
    assert found is not None
    assert found.state is State.RUNNING
    ProbeRun.objects.update(began_at=ClockTimestamp() - timedelta(minutes=6))
    assert activation_problems(world.destination.id, "api", hanging) == [
        "The connection test ended without a result; test again."
    ]
    request = asked(agreed(world, partner)).request
    with working(stack, spool, "second"):
        until(lambda: ProbeResult.objects.filter(request=request).exists(), START_SECONDS)
    assert not ProbeResult.objects.filter(request=found.request).exists()
