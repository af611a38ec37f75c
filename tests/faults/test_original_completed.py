"""The matrix row "Correction and replacement", as a worker lives it: an original completed before cutoff 2.

The replacement ends Failed with OriginalDelivered, having sent nothing, whether it was still queued or already
building when that committed. Completed after cutoff 2, the replacement goes on under its own checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.states import FailureReason, Status
from tests.faults.replacing import a_replacement, complete_original_of
from tests.faults.waking import standing_at
from tests.faults.world import evidence, kinds, now

if TYPE_CHECKING:
    from pathlib import Path

    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "reconciliation"]),
    pytest.mark.usefixtures("audited"),
]


def assert_refused_with_nothing_sent(job: ExportJob, world: World, spool: Path) -> None:
    assert now(job).status == Status.FAILED
    assert now(job).failure_reason == FailureReason.ORIGINAL_DELIVERED
    assert now(job).delivery_authorized_at is None
    assert kinds(job) == ["Claimed", "Failed"]
    assert evidence(job) == []
    assert (world.arrived(), list(spool.iterdir())) == ([], [])


def test_a_replacement_still_queued_when_its_original_is_completed_is_refused_at_cutoff_2(
    world: World, waking: Waking, spool: Path
) -> None:
    job = a_replacement(world)
    complete_original_of(job)

    waking.run(job)

    assert_refused_with_nothing_sent(job, world, spool)


@pytest.mark.parametrize("point", ["build.before", "build.after", "connect.after", "authorize.before"])
def test_a_replacement_already_building_when_its_original_is_completed_is_refused_at_cutoff_2(
    point: str, world: World, waking: Waking, spool: Path
) -> None:
    job = a_replacement(world)
    with standing_at(point) as stand:
        disposition = waking.start(job)
        stand.wait()
        complete_original_of(job)
        stand.let_go()
        disposition.result()

    assert_refused_with_nothing_sent(job, world, spool)


def test_a_replacement_past_cutoff_2_when_its_original_is_completed_goes_on_under_its_own_checks(
    world: World, waking: Waking
) -> None:
    job = a_replacement(world)
    with standing_at("authorize.after") as stand:
        disposition = waking.start(job)
        stand.wait()
        complete_original_of(job)
        stand.let_go()
        disposition.result()

    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]
    assert now(job).status == Status.COMPLETED
    assert world.arrived_as_recorded(job)
