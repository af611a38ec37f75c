"""Two statements meet on a row: every order of their steps, every wait that is due and none that is not.

The first commits, and again rolls back; then the second goes on. After each schedule the answers, the rows and the
promises are checked.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from exports.sql import STATEMENTS
from tests.interleavings.harness import expect_all
from tests.interleavings.pairs import all_pairs

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench
    from tests.interleavings.harness import Scenario

pytestmark = pytest.mark.soak  # minutes of schedules; not yet quick enough for every run

OUTBOX = frozenset({"take_outbox", "mark_published"})
UNDER_A_LOCK = frozenset({"cancel_queued", "request_stop", "record_cancellation", "mark_published"})
LOCK_NO_ROW = frozenset({"append_evidence"})
ALONE = frozenset({"create_export", "lock_gate", "open_hold"})

CANNOT_MEET = {
    "an export being born is known to nobody else": ({"create_export"}, set(STATEMENTS) - {"create_export"}),
}


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
