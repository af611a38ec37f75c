"""Every condition of every guard is left out in turn: some schedule must then show it, or its reason stands in a list.

The weakened statement runs as the owner, so that neither a grant nor a trigger refuses in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports.sql import STATEMENTS
from tests.interleavings.controls import SAMPLE, try_out
from tests.interleavings.defence import DEFENCE
from tests.interleavings.weakening import Weakened, weakenings

if TYPE_CHECKING:
    from tests.interleavings.bench import Bench

CONTROLS = {name: weakenings(name, each.text) for name, each in STATEMENTS.items()}
UNGUARDED = frozenset({"create_export", "open_hold", "record_cancellation"})
"""Statements without a condition: unique indexes and foreign keys are their guard."""


@pytest.mark.parametrize("name", [name for name in CONTROLS if CONTROLS[name]])
def test_a_statement_without_one_of_its_conditions_breaks_a_promise(bench: Bench, name: str) -> None:
    for control in CONTROLS[name]:
        if not _reason(control):
            verdict = try_out(bench, control)
            bench.tally["controls: schedules"] += verdict.schedules
            assert verdict.shown, f"no schedule shows the {control}, and no reason is given"
            bench.tally[f"controls: conditions shown by {verdict.shown_by}"] += 1


@pytest.mark.parametrize("name", DEFENCE)
def test_what_is_listed_as_defence_in_depth_is_shown_by_no_schedule(bench: Bench, name: str) -> None:
    _expect_nothing(bench, name, SAMPLE)


@pytest.mark.soak
@pytest.mark.parametrize("name", DEFENCE)
def test_what_is_listed_as_defence_in_depth_is_shown_by_none_of_all_schedules(bench: Bench, name: str) -> None:
    _expect_nothing(bench, name, None)


def test_every_statement_has_a_condition_or_is_known_to_have_none() -> None:
    assert {name for name, controls in CONTROLS.items() if not controls} == UNGUARDED


def test_every_reason_is_about_a_condition_that_exists() -> None:
    conditions = {name: {control.left_out for control in controls} for name, controls in CONTROLS.items()}
    stale = {(name, each) for name, reasons in DEFENCE.items() for each in reasons if each not in conditions[name]}
    assert stale == set()


def _expect_nothing(bench: Bench, name: str, sample: int | None) -> None:
    for control in CONTROLS[name]:
        if _reason(control):
            verdict = try_out(bench, control, sample)
            bench.tally["controls: schedules"] += verdict.schedules
            assert not verdict.shown, f"the {control} is shown after all: {verdict.shown}"
            bench.tally["controls: conditions that are defence in depth, with a reason"] += 1


def _reason(control: Weakened) -> str | None:
    return DEFENCE.get(control.statement, {}).get(control.left_out)
