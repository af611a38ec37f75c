"""The test matrix's row "Renewal", and what a lease keeper must do when the network swallows its answers."""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports import crashpoints
from exports.disposition import Disposition
from exports.states import Status
from exports.worker.keeper import HeldLease, LeaseKeeper
from exports.worker.spool import ExportFile
from tests.faults.boundaries import running
from tests.faults.observing import until
from tests.faults.scenarios import BY_NAME
from tests.faults.waking import standing_at
from tests.faults.wire_proxy import Fault
from tests.faults.world import kinds, lease_is_over, now

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"]),
    pytest.mark.usefixtures("short"),
]


@pytest.mark.parametrize("fault", [Fault.CUT_REPLY, Fault.DROP_REQUEST])
def test_a_renewal_that_throws_does_not_stop_a_healthy_build(
    fault: Fault, proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("renew_lease", fault)
    with standing_at("build.before") as building:
        disposition = waking.start(job, lossy)
        laid.wait()
        until(lambda: proxy.sent("renew_lease") >= 2)  # it was tried again
        building.let_go()
        assert disposition.result() is Disposition.SETTLED

    assert now(job).status == Status.COMPLETED
    assert now(job).attempt_count == 1


@pytest.mark.usefixtures("impatient")
def test_a_renewal_whose_answer_is_swallowed_is_given_up_in_time_and_made_on_another_connection(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("renew_lease", Fault.BLACK_HOLE)
    with standing_at("build.before") as building:
        disposition = waking.start(job, lossy)
        laid.wait()
        try:
            until(lambda: proxy.sent("renew_lease") >= 3)
            assert not lease_is_over(job)
        finally:
            proxy.cut()  # whoever would wait for ever is let go
        building.let_go()
        disposition.result()

    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]


def test_a_renewal_on_demand_waits_for_the_scheduled_one_under_way(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = running(world)
    laid = proxy.ambush("renew_lease", Fault.HOLD_REPLY)
    lease = LeaseKeeper(lossy).hold(job.id, attempt_of(job), lambda: None, time.monotonic())
    laid.wait()  # the scheduled one is under way

    on_demand = waking.call(lambda: lease.renew_now("worker"))
    assert lease._one_at_a_time.locked()
    assert not on_demand.done()
    laid.release()

    assert on_demand.result() is True
    lease.finish()


def test_a_renewal_under_way_at_the_terminal_write_that_finds_no_row_is_no_loss(
    proxy: WireProxy, lossy: str, world: World, waking: Waking, caplog: pytest.LogCaptureFixture
) -> None:
    job = world.queued()
    laid = proxy.ambush("finish_delivery", Fault.HOLD_REPLY)  # committed; its answer takes longer than a renewal
    disposition = waking.start(job, lossy)
    laid.wait()
    (lease,) = waking.worker(lossy).keeper._leases
    until(lambda: lease.is_finished)  # the keeper has seen that its renewal changed no row
    laid.release()

    assert disposition.result() is Disposition.SETTLED
    assert now(job).status == Status.COMPLETED
    assert "lease_lost" not in caplog.text


@pytest.mark.parametrize("end", ["finished", "stopped"])
def test_renewals_are_finished_right_after_the_terminal_write_before_anything_is_tidied_up(
    end: str, world: World, waking: Waking, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.queued()
    order: list[str] = []
    if end == "stopped":
        crashpoints.arm("authorize.before", lambda: BY_NAME["cancel"].act(job.id, "api"))
    crashpoints.arm(f"{end}.after", lambda: order.append("written"))
    monkeypatch.setattr(HeldLease, "finish", noting(order, "renewals finished", HeldLease.finish))
    monkeypatch.setattr(ExportFile, "delete", noting(order, "file deleted", ExportFile.delete))

    try:
        waking.run(job)
    finally:
        crashpoints.disarm()

    assert order[:3] == ["written", "renewals finished", "file deleted"]


def noting(order: list[str], what: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Note each call, then do what it does."""

    def noted(*args: Any) -> Any:
        order.append(what)
        return method(*args)

    return noted


def test_a_lease_that_was_finished_is_never_renewed_nor_reported_lost(world: World) -> None:
    job = running(world)
    lost = threading.Event()
    lease = LeaseKeeper("worker").hold(job.id, uuid.uuid4(), lost.set, time.monotonic())
    lease.finish()

    assert lease.renew("worker") is None
    assert not lost.is_set()


def test_a_renewal_that_changes_no_row_reports_the_loss_once(world: World) -> None:
    job = running(world)
    losses: list[Any] = []
    lease = LeaseKeeper("worker").hold(job.id, uuid.uuid4(), lambda: losses.append(None), time.monotonic() - 60)

    until(lambda: lease.is_finished)

    assert len(losses) == 1


def attempt_of(job: Any) -> uuid.UUID:
    attempt_id = now(job).attempt_id
    assert attempt_id is not None
    return attempt_id
