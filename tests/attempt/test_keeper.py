"""The lease keeper: one thread renews every attempt of its process, and no attempt's trouble is another's."""

from __future__ import annotations

import threading
import time
from statistics import median
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports.conf import limits
from exports.models import ExportJob
from exports.states import Written
from exports.worker import keeper as keeping
from exports.worker.keeper import HeldLease, LeaseKeeper
from tests.faults.boundaries import delivering, running
from tests.faults.observing import held_row, other_sessions, until
from tests.faults.relay import Doors
from tests.faults.wire_proxy import Fault
from tests.faults.world import expire, lease_is_over, lease_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"]),
    pytest.mark.usefixtures("short"),
]


class Keeping:
    """A keeper, and the leases a test let it hold."""

    def __init__(self, using: str = "worker") -> None:
        self.keeper = LeaseKeeper(using)
        self.lost: list[ExportJob] = []
        self.leases: list[HeldLease] = []

    def hold(self, job: ExportJob) -> HeldLease:
        """Keep a claimed job's lease."""
        assert job.attempt_id is not None
        lease = self.keeper.hold(job.id, job.attempt_id, lambda: self.lost.append(job), time.monotonic())
        self.leases.append(lease)
        return lease


@pytest.fixture
def kept() -> Iterator[Keeping]:
    """Keep leases until the test ends."""
    keeping_some = Keeping()
    yield keeping_some
    for lease in keeping_some.leases:
        lease.finish()


def renewals(job: ExportJob, count: int) -> None:
    """Wait until the lease was extended so many times."""
    for _ in range(count):
        expires = lease_of(job)
        until(lambda: lease_of(job) > expires)  # noqa: B023 - used up within the turn


@pytest.mark.parametrize("arrange", [running, delivering])
def test_a_lease_is_renewed_from_the_claim_through_the_delivery(arrange: object, world: World, kept: Keeping) -> None:
    assert callable(arrange)
    job = arrange(world, limits().lease_seconds)
    kept.hold(job)
    renewals(job, 4)
    assert not lease_is_over(job)
    assert kept.lost == []


def test_a_lease_that_lapsed_without_a_takeover_is_renewed(world: World, kept: Keeping) -> None:
    job = running(world)
    expire(job)
    kept.hold(job)
    until(lambda: not lease_is_over(job))
    assert kept.lost == []


def test_a_row_that_somebody_holds_delays_no_other_lease(world: World, kept: Keeping) -> None:
    held, free = running(world, limits().lease_seconds), running(world, limits().lease_seconds)
    with held_row(held):
        kept.hold(held)
        kept.hold(free)
        renewals(free, 4)
        assert not lease_is_over(free)
    renewals(held, 1)  # a wait that was given up is tried again
    assert kept.lost == []


def test_a_lost_attempt_stops_alone(world: World, kept: Keeping) -> None:
    lost, other = running(world, limits().lease_seconds), running(world, limits().lease_seconds)
    ExportJob.objects.filter(id=lost.id).update(attempt_id=None, status="Queued")
    kept.hold(lost)
    kept.hold(other)
    until(lambda: kept.lost == [lost])
    renewals(other, 2)
    assert kept.lost == [lost]


def test_an_outage_of_the_database_is_outlived(proxy: WireProxy, lossy: str, world: World) -> None:
    kept = Keeping(lossy)
    job = running(world, limits().lease_seconds)
    kept.hold(job)
    renewals(job, 1)
    refused = proxy.accepted
    proxy.set_doors(Doors.RESET)
    proxy.cut()
    until(lambda: proxy.accepted >= refused + 2)
    proxy.set_doors(Doors.OPEN)
    renewals(job, 2)
    assert kept.lost == []
    kept.leases[0].finish()


def test_the_own_deadline_is_counted_from_before_the_renewal_was_sent(
    proxy: WireProxy, lossy: str, world: World
) -> None:
    kept = Keeping(lossy)
    job = running(world, limits().lease_seconds)
    laid = proxy.ambush("renew_lease", Fault.HOLD_REPLY)
    lease = kept.hold(job)
    laid.wait()
    answered_at = time.monotonic()  # the database has renewed; the answer is still on its way
    expires_at = lease_of(job)
    laid.release()
    until(lambda: lease.due_at > answered_at)

    assert lease.current_until < answered_at + limits().lease_seconds
    assert lease_of(job) >= expires_at
    lease.finish()


def test_a_renewal_on_demand_answers_whether_the_attempt_still_owns_its_job(world: World) -> None:
    own, lost = running(world), running(world)
    ExportJob.objects.filter(id=lost.id).update(attempt_id=None, status="Queued")
    keeper = LeaseKeeper("worker")
    for job, owned in ((own, True), (lost, False)):
        lease = keeper.hold(job.id, job.attempt_id, lambda: None, time.monotonic())  # type: ignore[arg-type] # claimed
        assert lease.renew_now("worker") is owned
        lease.finish()


def test_a_renewal_on_demand_tries_a_few_times_and_gives_up(
    proxy: WireProxy, lossy: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    job = running(world)
    lease = HeldLease(job.id, job.attempt_id, lambda: None, time.monotonic())  # type: ignore[arg-type] # claimed
    proxy.set_doors(Doors.RESET)
    assert lease.renew_now(lossy) is False
    assert proxy.accepted == keeping.ON_DEMAND_TRIES

    proxy.set_doors(Doors.OPEN)
    assert lease.renew(lossy) is Written.APPLIED


def test_finishing_waits_for_the_renewal_under_way(proxy: WireProxy, lossy: str, world: World) -> None:
    kept = Keeping(lossy)
    laid = proxy.ambush("renew_lease", Fault.HOLD_REPLY)
    lease = kept.hold(running(world))
    laid.wait()
    finishing = threading.Thread(target=lease.finish)
    finishing.start()
    assert not lease.is_finished
    laid.release()
    finishing.join()
    assert lease.is_finished


def test_without_leases_no_session_is_kept(world: World, kept: Keeping) -> None:
    job = running(world, limits().lease_seconds)
    lease = kept.hold(job)
    renewals(job, 1)
    connections["worker"].close()
    connections["api"].close()
    lease.finish()
    until(lambda: not any(login == "exports_worker" for _, login, _ in other_sessions()))


def test_a_short_attempt_pays_next_to_nothing_for_being_kept(world: World, kept: Keeping) -> None:
    job = running(world)
    seconds = []
    for _ in range(50):
        began = time.perf_counter()
        kept.hold(job).finish()
        seconds.append(time.perf_counter() - began)
    assert median(seconds) < 0.005
