"""Everything that can be done, from every starting state, alone: what the pairs rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interleavings.doing import actions_on
from tests.interleavings.harness import Scenario, expect_all
from tests.interleavings.starting import FAMILIES

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench


@pytest.mark.parametrize("name", FAMILIES)
def test_an_action_alone_does_what_the_table_says_and_keeps_every_promise(bench: Bench, name: str) -> None:
    family = FAMILIES[name]
    for action in actions_on(family):
        expect_all(bench, Scenario(family, (action,)), "alone")
