"""What many exports to one partner have in common: a connection there, and the database's sessions here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports.observability.counters import REGISTRY
from tests.faults.fixtures import _no_session_outlives_its_test, pytest_configure, waking, world
from tests.faults.world import now
from tests.speed.conftest import counted_round_trips

if TYPE_CHECKING:
    from tests.faults.waking import Waking
    from tests.faults.world import World

__all__ = ["_no_session_outlives_its_test", "pytest_configure", "waking", "world"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

EXPORTS = 5
READS = 8
"""Of one export besides its nine statements: row, place, holds, secret, guards, others under its name."""


def connections_opened() -> float:
    """Return how many connections to partners this process has opened."""
    return REGISTRY.get_sample_value("exports_phase_seconds_count", {"phase": "connect"}) or 0.0


def test_exports_one_after_the_other_share_one_connection_to_their_partner(world: World, waking: Waking) -> None:
    before = connections_opened()
    for _ in range(EXPORTS):
        job = world.queued()
        waking.run(job)
        assert now(job).status == "Completed"
    assert connections_opened() - before == 1


def test_a_whole_export_asks_its_database_a_bounded_number_of_questions(world: World, waking: Waking) -> None:
    waking.run(world.queued())
    job = world.queued()
    with counted_round_trips("worker") as waited, CaptureQueriesContext(connections["worker"]) as asked:
        waking.run(job)
    assert now(job).status == "Completed"
    assert len(asked) <= 8 + READS, "\n".join(each["sql"][:120] for each in asked)
    assert waited.count == len(asked)
