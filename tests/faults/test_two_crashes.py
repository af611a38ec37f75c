"""The full product: an attempt crashes at one point, and whoever goes on crashes at another; then all goes well."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DatabaseError, InterfaceError

from exports import crashpoints
from tests.faults.afterwards import assert_promises_hold, come_to_rest, go_on
from tests.faults.scenarios import ALIASES, BY_NAME, wake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount
    from tests.faults.fixtures import Count

pytestmark = [pytest.mark.soak, pytest.mark.django_db(transaction=True, databases=ALIASES)]

RECOVERY = tuple(
    point for name in ("requeue", "resolve") for point in BY_NAME[name].points if point.startswith("recover.")
)
PAIRS = tuple(product(BY_NAME["deliver"].points, (*BY_NAME["deliver"].points, *RECOVERY)))
GOES_ON = 3
"""Recovery, a second attempt, and its recovery: what may meet the second crash."""


@pytest.fixture(autouse=True)
def _as_before(settings: Any) -> Iterator[None]:
    settings.EXPORTS = settings.EXPORTS
    yield
    crashpoints.disarm()


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{first}-then-{second}" for first, second in PAIRS])
def test_two_crashes_in_a_row_break_no_promise(pair: tuple[str, str], partner: PartnerAccount, count: Count) -> None:
    count("crash points: pairs in a row")
    first, second = pair
    scenario = BY_NAME["deliver"]
    world = scenario.world(partner)
    job_id = scenario.arrange(world)

    crashpoints.arm_from(f"{first}=raise")
    with suppress(crashpoints.Crashed, DatabaseError, InterfaceError):
        wake(job_id, "worker")
    crashpoints.disarm()
    crashpoints.arm_from(f"{second}=raise")
    for _ in range(GOES_ON):
        with suppress(crashpoints.Crashed, DatabaseError, InterfaceError):
            go_on(scenario, job_id)
    crashpoints.disarm()

    job = come_to_rest(scenario, job_id)
    assert job.status in scenario.ends
    assert_promises_hold(world, job)
