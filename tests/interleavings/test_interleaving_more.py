"""Three and four at once: the races the design is about, in every order that can happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interleavings.doing import actions_on
from tests.interleavings.harness import Scenario, expect_all
from tests.interleavings.starting import FAMILIES

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench

CLAIM_CANCEL_RECOVERY = [
    ("running, lapsed", "requeue"),
    ("running, given back", "requeue"),
    ("queued again", "requeue"),
    ("running, lapsed, asked to stop", "stop_expired"),
    ("running again, lapsed", "exhaust"),
]
AUTHORIZE_STOP_RECOVERY_RENEW = [
    ("running", "requeue"),
    ("running, lapsed", "requeue"),
]


def _scenario(family_name: str, *names: str, with_rollbacks: bool = True) -> Scenario:
    family = FAMILIES[family_name]
    actions = {action.name: action for action in actions_on(family)}
    return Scenario(family, tuple(actions[name] for name in names), with_rollbacks=with_rollbacks)


@pytest.mark.parametrize(("family", "recovery"), CLAIM_CANCEL_RECOVERY)
def test_a_claim_a_cancel_and_a_recovery_at_once_have_one_winner(bench: Bench, family: str, recovery: str) -> None:
    expect_all(bench, _scenario(family, "claim", "cancel", recovery), "triples")


@pytest.mark.parametrize(("family", "recovery"), AUTHORIZE_STOP_RECOVERY_RENEW)
def test_cutoff_2_a_stop_a_recovery_and_a_renewal_at_once_have_one_winner(
    bench: Bench, family: str, recovery: str
) -> None:
    scenario = _scenario(family, "authorize_delivery", "cancel", recovery, "renew_lease", with_rollbacks=False)
    expect_all(bench, scenario, "quadruples")
