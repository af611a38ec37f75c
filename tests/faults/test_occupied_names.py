"""A file that stands under the final name: found early it ends the attempt from Running, found late from Delivering.

Nothing is uploaded in either case, and what stood there stays as it is (I8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.states import FailureReason, Status
from tests.faults.scenarios import BY_NAME
from tests.faults.waking import standing_at
from tests.faults.world import evidence, kinds, now

if TYPE_CHECKING:
    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"]),
    pytest.mark.usefixtures("audited"),
]

SOMEBODYS = b"somebody else's"


def assert_left_as_it_was(world: World, job: ExportJob) -> None:
    assert world.arrived() == [world.final(job).name]
    assert world.final(job).read_bytes() == SOMEBODYS


def test_a_name_found_taken_while_preparing_ends_the_attempt_from_running(world: World, waking: Waking) -> None:
    job = world.queued()
    world.final(job).write_bytes(SOMEBODYS)

    waking.run(job)

    assert (now(job).status, now(job).failure_reason) == (Status.FAILED, FailureReason.FINAL_NAME_OCCUPIED)
    assert kinds(job) == ["Claimed", "Failed"]
    assert (now(job).delivery_authorized_at, evidence(job)) == (None, [])
    assert_left_as_it_was(world, job)


def test_a_name_taken_after_the_early_look_is_in_the_recorded_baseline_and_nothing_is_uploaded(
    world: World, waking: Waking
) -> None:
    job = world.queued()
    with standing_at("authorize.before") as stand:
        disposition = waking.start(job)
        stand.wait()
        world.final(job).write_bytes(SOMEBODYS)
        stand.let_go()
        disposition.result()

    assert (now(job).status, now(job).failure_reason) == (Status.FAILED, FailureReason.FINAL_NAME_OCCUPIED)
    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]
    assert '"baseline"' in evidence(job)[0]
    assert not any('"publish_sent"' in each for each in evidence(job))
    assert_left_as_it_was(world, job)


def test_a_stop_request_recorded_before_the_early_look_still_wins_at_cutoff_2(world: World, waking: Waking) -> None:
    job = world.queued()
    with standing_at("authorize.before") as stand:
        disposition = waking.start(job)
        stand.wait()
        BY_NAME["cancel"].act(job.id, "api")
        world.final(job).write_bytes(SOMEBODYS)
        stand.let_go()
        disposition.result()

    assert (now(job).status, kinds(job)) == (Status.STOPPED, ["Claimed", "Stopped"])
    assert_left_as_it_was(world, job)
