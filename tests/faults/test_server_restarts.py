"""The server is restarted at each boundary write, on a cluster of these tests' own; and around whole attempts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports.states import Status
from tests.faults.boundaries import BOUNDARIES, Boundary
from tests.faults.cluster import Cluster
from tests.faults.observing import held_tables, wait_until_one_is_blocked_by
from tests.faults.waking import Waking, standing_at
from tests.faults.wire_proxy import Fault, WireProxy
from tests.faults.world import World, a_world, kinds, now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"])
each_write = pytest.mark.parametrize("write", BOUNDARIES, ids=[write.name for write in BOUNDARIES])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a server of this module's own."""
    own = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        own.start()
        yield own
    finally:
        own.end()


@pytest.fixture
def restarting(cluster: Cluster, transactional_db: None) -> Iterator[Cluster]:  # noqa: ARG001 - aliases exist first
    """Run the test on that server."""
    with cluster.serving_all_aliases():
        yield cluster


@pytest.fixture
def its_world(restarting: Cluster, partner: PartnerAccount) -> World:  # noqa: ARG001 - made there
    """Return a world on that server."""
    return a_world(partner)


@contextmanager
def through(proxy: WireProxy) -> Iterator[None]:
    """Lead the lossy alias through this proxy."""
    connections["lossy"].close()
    connections.databases["lossy"]["PORT"] = proxy.port
    yield
    connections["lossy"].close()


@each_write
def test_a_write_that_waited_when_the_server_went_down_is_known_as_not_applied_once_it_is_back(
    write: Boundary, restarting: Cluster, its_world: World, waking: Waking
) -> None:
    at = write.situation(its_world, "worker")
    with held_tables() as holder:
        answer = waking.call(lambda: write.write(at))
        wait_until_one_is_blocked_by(holder)
        restarting.restart()

    assert answer.result() == write.refused_once
    connections["default"].close()
    assert at.status() == (write.after if write.tries_again() else write.before)


@each_write
def test_a_write_whose_answer_was_lost_with_the_server_is_known_as_applied_once_it_is_back(
    write: Boundary, restarting: Cluster, its_world: World
) -> None:
    with WireProxy("127.0.0.1", restarting.port) as proxy, through(proxy):
        at = write.situation(its_world, "lossy")
        laid = proxy.ambush(write.statement, Fault.CUT_REPLY, then=restarting.restart)

        assert write.write(at) == write.applied

        laid.wait()
    connections["default"].close()
    assert at.status() == write.after
    assert write.event is None or at.events(write.event) == 1


@pytest.mark.parametrize(
    "point",
    ["settle.after", "build.before", "build.after", "connect.after", "delivery.after_upload", "finished.before"],
)
def test_an_attempt_whose_server_is_restarted_between_its_writes_delivers_once(
    point: str, restarting: Cluster, its_world: World, waking: Waking
) -> None:
    job = its_world.queued()
    with standing_at(point) as stand:
        disposition = waking.start(job)
        stand.wait()
        restarting.restart()
        stand.let_go()
        disposition.result()

    connections["default"].close()
    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]
    assert now(job).status == Status.COMPLETED
    assert its_world.arrived() == [its_world.final(job).name]
