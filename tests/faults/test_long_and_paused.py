"""The test matrix's rows "A long build", "A long upload" and "A paused attempt", against a real partner.

A build or upload that takes long is one that stands at a named point while leases pass. A paused worker is one
whose keeper does not renew: that is all anybody else can see of a pause.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.disposition import Disposition
from exports.states import Status
from reconciliation import recovery
from reconciliation.actions.reconcile_outcome import Reconciled
from tests.faults.observing import until
from tests.faults.waking import standing_at
from tests.faults.wire_proxy import Fault
from tests.faults.world import evidence, kinds, lease_is_over, now
from tests.settling.settled import reconcile

if TYPE_CHECKING:
    from reconciliation.recovery import Recovered
    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "reconciliation", "lossy"]),
    pytest.mark.usefixtures("audited"),
]

DELIVERED = ["Claimed", "DeliveryAuthorized", "Finished"]


@pytest.fixture
def paused(settings: Any) -> None:
    """Set leases that lapse before the keeper's first renewal, as those of a paused worker do."""
    settings.EXPORTS = replace(settings.EXPORTS, lease_seconds=0.2, renew_seconds=60.0)


def recover() -> Recovered:
    """Run recovery once, as the maintenance worker does."""
    return recovery.run_once(10, time_budget_seconds=10, using="worker")


@pytest.mark.usefixtures("short")
def test_a_build_that_outlasts_its_first_lease_keeps_renewing_and_delivers_once(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("build.after") as building:
        disposition = waking.start(job, lossy)
        building.wait()
        renewals = proxy.sent("renew_lease")
        until(lambda: proxy.sent("renew_lease") >= renewals + 4)  # more than a whole lease
        assert recover().requeued == 0
        building.let_go()
        assert disposition.result() is Disposition.SETTLED

    assert kinds(job) == DELIVERED
    assert now(job).status == Status.COMPLETED
    assert world.arrived() == [world.final(job).name]


@pytest.mark.usefixtures("paused")
def test_a_worker_paused_past_its_lease_is_refused_at_cutoff_2_renews_and_delivers(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("build.after") as building:
        disposition = waking.start(job, lossy)
        building.wait()
        until(lambda: lease_is_over(job))
        building.let_go()
        disposition.result()

    # Refused once, renewed once because no takeover had committed, and then let through.
    assert proxy.sent("authorize_delivery") == 2
    assert proxy.sent("renew_lease") == 1
    assert kinds(job) == DELIVERED
    assert world.arrived_as_recorded(job)


@pytest.mark.usefixtures("paused")
def test_a_worker_whose_attempt_was_taken_over_before_its_renewal_stops(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    taken: list[int] = []
    laid = proxy.ambush("authorize_delivery", Fault.HOLD_REPLY, then=lambda: taken.append(recover().requeued))
    with standing_at("build.after") as building:
        disposition = waking.start(job, lossy)
        building.wait()
        until(lambda: lease_is_over(job))
        building.let_go()
        laid.wait()
        laid.release()
        disposition.result()

    # A takeover committed between the refusal and the renewal: the renewal changes nothing, and it stops.
    assert taken == [1]
    assert proxy.sent("renew_lease") == 1
    assert proxy.sent("authorize_delivery") == 1
    assert kinds(job) == ["Claimed", "RequeuedByRecovery"]
    assert now(job).status == Status.QUEUED
    assert world.arrived() == []


@pytest.mark.usefixtures("paused")
@pytest.mark.parametrize("point", ["build.before", "build.after", "connect.after"])
def test_an_attempt_taken_over_while_it_prepared_authorizes_nothing_and_records_nothing(
    point: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at(point) as stand:
        disposition = waking.start(job)
        stand.wait()
        until(lambda: lease_is_over(job))
        assert recover().requeued == 1
        stand.let_go()
        disposition.result()

    # The original worker's authorization matches nothing, and nothing it catches is recorded.
    assert kinds(job) == ["Claimed", "RequeuedByRecovery"]
    assert now(job).status == Status.QUEUED
    assert now(job).attempt_id is None
    assert evidence(job) == []
    assert world.arrived() == []


@pytest.mark.usefixtures("paused")
def test_an_attempt_taken_over_by_another_worker_cannot_end_that_ones_delivery(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("build.after") as stand:
        first = waking.start(job)
        stand.wait()
        until(lambda: lease_is_over(job))
        recover()
        stand.let_go()
        waking.start(job).result()
        first.result()

    assert kinds(job) == ["Claimed", "RequeuedByRecovery", *DELIVERED]
    assert now(job).attempt_count == 2
    assert world.arrived() == [world.final(job).name]


@pytest.mark.usefixtures("short")
def test_an_upload_that_outlasts_its_first_lease_stays_renewed_and_completes(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("delivery.after_upload") as uploading:
        disposition = waking.start(job, lossy)
        uploading.wait()
        renewals = proxy.sent("renew_lease")
        until(lambda: proxy.sent("renew_lease") >= renewals + 4)
        assert recover().outcome_unknown == 0
        uploading.let_go()
        disposition.result()

    assert kinds(job) == DELIVERED
    assert now(job).status == Status.COMPLETED


@pytest.mark.usefixtures("paused")
@pytest.mark.parametrize(
    "point", ["delivery.before_upload", "delivery.after_upload", "delivery.after_announce", "delivery.after_publish"]
)
def test_an_upload_that_was_taken_over_still_finishes_and_recovery_reconciles_from_its_evidence(
    point: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at(point) as uploading:
        disposition = waking.start(job)
        uploading.wait()
        until(lambda: lease_is_over(job))
        taken = recover()
        assert taken.outcome_unknown + taken.completed == 1
        uploading.let_go()
        disposition.result()

    # The upload still finishes, and its evidence is appended …
    assert world.arrived_as_recorded(job)
    assert '"outcome"' in evidence(job)[-1]
    # … while its terminal write matches nothing.
    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "ResolvedByRecovery"]
    # What recovery could not know, the evidence now tells: whoever reconciles is proposed Completed, and records it.
    if taken.outcome_unknown:
        reconciled = reconcile(now(job), why_against="")
        assert reconciled == Reconciled(Status.COMPLETED)
        assert kinds(job)[-1] == "Reconciled"
    assert now(job).status == Status.COMPLETED


@pytest.mark.usefixtures("paused")
def test_recovery_completes_from_the_evidence_of_an_upload_that_ended_without_its_terminal_write(
    world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("finished.before") as ending:
        disposition = waking.start(job)
        ending.wait()
        until(lambda: lease_is_over(job))
        assert recover().completed == 1
        ending.let_go()
        disposition.result()

    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "ResolvedByRecovery"]
    assert now(job).status == Status.COMPLETED
