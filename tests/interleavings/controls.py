"""Runs weakened statements through the schedules until a promise breaks, or none does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from exports.sql import STATEMENTS
from exports.states import Role
from tests.interleavings.binding import parameters
from tests.interleavings.doing import actions_on
from tests.interleavings.harness import Outcome, Scenario, explore
from tests.interleavings.pairs import pairs_of, rows_of
from tests.interleavings.rules import Call, Rule, View
from tests.interleavings.special import EXPECTED
from tests.interleavings.starting import FAMILIES
from tests.interleavings.world import ORIGINAL, Hold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interleavings.acting import Action
    from tests.interleavings.bench import Bench
    from tests.interleavings.starting import Family
    from tests.interleavings.weakening import Weakened


PLAINEST = (
    "two queued at one destination",
    "queued",
    "queued, not woken for long",
    "queued, not published",
    "queued again",
    "running",
    "running, lapsed",
    "running, lapsed, asked to stop",
    "running again, lapsed",
    "delivering, lapsed",
    "unknown",
    "not delivered",
    "replacement of an original not delivered: queued",
    "replacement of an original not delivered: running",
    "replacement of an unknown original: not delivered",
)
"""The states in whose company a weakened statement is tried: one for each thing it can be guarded against."""
PATIENCE = 150
"""Schedules after the first wrong answer in which the rows may still show the damage."""
SAMPLE = 15
"""Scenarios in which an everyday run tries a condition that is listed as defence in depth; `make soak` tries all."""
NOTHING_WRITTEN = ("told Refused", "told Taken")
"""Wrong answers of a statement that wrote nothing: the rows will never show them."""


@dataclass
class Verdict:
    """What a control came to: the first schedule that broke a promise, or a wrong answer or wait, or neither."""

    control: Weakened
    rows: Outcome | None = None
    """The first schedule whose rows and answers break a promise."""
    told: Outcome | None = None
    """The first schedule in which this statement answered or waited as it must not."""
    schedules: int = 0
    patience: int = PATIENCE

    def note(self, outcome: Outcome) -> None:
        """Count a schedule and remember the first of each kind."""
        self.schedules += 1
        self.patience -= self.told is not None
        if outcome.broken:
            self.rows = outcome
        elif self.told is None and self._is_about_the_statement(outcome):
            self.told = outcome
            if any(words in outcome.surprises[0] for words in NOTHING_WRITTEN):
                self.patience = 0

    def _is_about_the_statement(self, outcome: Outcome) -> bool:
        # A refusal by the database is not an answer: what refused is what stands behind the condition.
        return any(f" {self.control.statement}" in words and "error" not in words for words in outcome.surprises)

    @property
    def shown(self) -> Outcome | None:
        """The schedule that shows what the condition is for."""
        return self.rows or self.told

    @property
    def shown_by(self) -> str:
        """What showed it."""
        return "a broken promise" if self.rows else "a wrong answer or wait"

    @property
    def is_settled(self) -> bool:
        """Whether the rows have shown it, or are not likely to any more."""
        return self.rows is not None or self.patience <= 0


def try_out(bench: Bench, control: Weakened, sample: int | None = None) -> Verdict:
    """Run every schedule with the statement until the rows break a promise, or about as many as `sample` says."""
    verdict = Verdict(control)
    if control.left_out.startswith("MATERIALIZED") and _is_planned_alike(bench, control):
        return verdict
    scenarios = list(_scenarios(control))
    for scenario in scenarios[:: 1 + len(scenarios) // sample] if sample else scenarios:
        for outcome in explore(bench, scenario):
            verdict.note(outcome)
            if verdict.is_settled:
                return verdict
    return verdict


def _is_planned_alike(bench: Bench, control: Weakened) -> bool:
    """Whether the server does exactly the same with the word and without: then there is nothing to try."""
    texts = (control.text, STATEMENTS[control.statement].text)
    calls = [bench.owner.compose(text, parameters(Call(target=ORIGINAL), 0)) for text in texts]
    weaker, stronger = (bench.owner.do(f"EXPLAIN (VERBOSE, COSTS OFF) {call}") for call in calls)
    return weaker == stronger


def _scenarios(control: Weakened) -> Iterator[Scenario]:
    is_lock = control.left_out.startswith(("FOR ", "SKIP", "pg_advisory"))
    alone, together = alone_with(control.statement), together_with(control.statement)
    for scenario in (*together, *alone) if is_lock else (*alone, *together):
        # As the owner, so that neither grants nor triggers stand in for the guard.
        texts = {control.statement: control.text}
        yield Scenario(scenario.family, scenario.actions, texts, Role.OWNER, with_rollbacks=is_lock)


@cache
def alone_with(statement: str) -> tuple[Scenario, ...]:
    """Return every try of this statement alone; first those that one condition, or a hold, alone refuses."""
    found = [
        Scenario(family, (action,))
        for family in FAMILIES.values()
        for action in actions_on(family)
        if statement in action.statements
    ]
    return tuple(sorted(found, key=lambda each: _refusals(statement, each.family, each.actions[0])))


def _refusals(statement: str, family: Family, action: Action) -> int:
    rule, view = EXPECTED[statement], View(rows_of(family))
    if not isinstance(rule, Rule):
        return int(family.hold is Hold.NONE)
    job = view.job(action.call.target)
    missing = (rule.target(job, action.call) is None) + sum(not ask(job, action.call, view) for ask in rule.asks)
    return {0: 2, 1: 1}.get(missing, missing + 1)


@cache
def together_with(statement: str) -> tuple[Scenario, ...]:
    """Return every pair of the plainest states one of which runs this statement."""
    return tuple(pair for pair in _pairs() if any(statement in action.statements for action in pair.actions))


@cache
def _pairs() -> tuple[Scenario, ...]:
    found = {_kind(pair): pair for name in reversed(PLAINEST) for pair in pairs_of(FAMILIES[name])}
    return tuple(sorted(found.values(), key=lambda pair: PLAINEST.index(pair.family.name)))


def _kind(pair: Scenario) -> tuple[object, ...]:
    """Return in what a pair differs from others: who does what, and what every guard would find."""
    found = [
        (job.name, job.status, job.lease.is_over, job.stop, job.is_used_up, job.woken)
        for job in pair.family.jobs.values()
    ]
    return (*(action.name for action in pair.actions), *found)
