"""Ready means that an export would get through: each part is red by itself, and says how old it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exports.observability import canary, readiness
from exports.observability.heartbeats import EVERY_SECONDS
from exports.observability.names import CANARY_EVERY_SECONDS
from tests.observability.seeing import EVERYBODY, names, seen

if TYPE_CHECKING:
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

PARTS = {"worker": 0, "dispatcher": 1, "beat": 2, "exports": 3, "maintenance": 4, "wake_ups": 5}
WORST_PROBE_SECONDS = 10.0
"""A monitor that asks every ten seconds is what the promise of one minute is made for."""


def checks(browser: RoleClient) -> tuple[int, set[str]]:
    """Return the status, and the names of what is red."""
    answer: Any = browser.get("/healthz/ready")
    return answer.status_code, {name for name, word in answer.json()["checks"].items() if word != "ok"}


def test_it_is_ready_when_everybody_was_seen_lately(browser: RoleClient) -> None:
    seen(*EVERYBODY)

    assert checks(browser) == (200, set())


def test_it_is_not_ready_before_anybody_was_seen(browser: RoleClient) -> None:
    assert checks(browser) == (503, set(PARTS))


@pytest.mark.parametrize("part", PARTS)
def test_one_that_was_not_seen_for_too_long_is_red_alone(browser: RoleClient, part: str) -> None:
    seen(*EVERYBODY)
    seen(EVERYBODY[PARTS[part]], seconds_ago=46)

    assert checks(browser) == (503, {part})


def test_one_worker_that_is_alive_is_enough(browser: RoleClient) -> None:
    seen(*EVERYBODY)
    seen(EVERYBODY[0], seconds_ago=1000)
    seen("worker:maintenance:host:9:ff")

    assert checks(browser) == (200, set())


def test_each_part_says_its_age_and_its_bound(browser: RoleClient) -> None:
    seen(*EVERYBODY, seconds_ago=7)

    ages = browser.get("/healthz/ready").json()["ages"]

    assert {name: age["bound_seconds"] for name, age in ages.items()} == {
        "worker": 20.0, "dispatcher": 20.0, "beat": 45.0, "wake_ups": 45.0, "exports": 45.0, "maintenance": 45.0
    }  # fmt: skip
    assert all(7 <= age["age_seconds"] < 17 for age in ages.values())


def test_a_deaf_queue_is_told_within_a_minute_by_whoever_asks_every_ten_seconds() -> None:
    assert readiness.CANARY_SECONDS + WORST_PROBE_SECONDS < 60
    assert readiness.CANARY_SECONDS >= 5 * CANARY_EVERY_SECONDS
    assert readiness.PROCESS_SECONDS >= 3 * EVERY_SECONDS


def test_a_canary_stamps_no_row_of_a_queue_that_is_not_ours() -> None:
    canary.arrive("queue of a stranger")

    assert names() == set()
