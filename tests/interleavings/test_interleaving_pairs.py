"""Two statements meet on a row: every order of their steps, every wait that is due and none that is not.

The first commits, and again rolls back; then the second goes on. After each schedule the answers, the rows and the
promises are checked.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.interleavings.harness import expect_all
from tests.interleavings.meetings import every_meeting, impossible
from tests.interleavings.pairs import all_pairs

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench
    from tests.interleavings.harness import Scenario


def _by_family() -> dict[str, list[Scenario]]:
    found: dict[str, list[Scenario]] = defaultdict(list)
    for pair in all_pairs():
        found[pair.family.name].append(pair)
    return dict(found)


PAIRS = _by_family()


@pytest.mark.parametrize("name", PAIRS)
def test_two_at_once_end_as_one_after_the_other_and_keep_every_promise(bench: Bench, name: str) -> None:
    for pair in PAIRS[name]:
        expect_all(bench, pair, "pairs")
    bench.families_met.add(name)


def test_every_two_statements_have_met_or_there_is_a_reason_why_they_cannot(bench: Bench) -> None:
    if missing := PAIRS.keys() - bench.families_met:
        pytest.skip(f"only some of the pairs have run; without {len(missing)} states it cannot be said who met")
    assert every_meeting() - bench.met - impossible() == set(), "these never met, and no reason is given"
    assert impossible() & bench.met == set(), "these have met, so the reason does not hold"
    bench.note_meetings()
