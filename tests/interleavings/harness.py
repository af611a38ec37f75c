"""Runs schedules: sessions take turns, one step at a time, and whoever waits is seen to wait.

A schedule is a row of choices: which session takes its next step, or ends, and how. `explore` runs every schedule
there is: it starts again from the same rows with the last choice changed, until none is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.interleavings.acting import Action, Actor
from tests.interleavings.sessions import wait_for_any
from tests.interleavings.touching import about
from tests.interleavings.transactions import Transactions
from tests.interleavings.world import Lease

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exports.states import Role
    from tests.interleavings.bench import Bench
    from tests.interleavings.sessions import Result
    from tests.interleavings.starting import Family
    from tests.interleavings.steps import Step

POLL_SECONDS = 0.001
SETTLE_SECONDS = 10.0
"""A statement that neither answers nor waits for this long hangs; the longest lock timeout of a login is 5 s."""

TRIES = 30
"""A machine that needs 0.3 s for three statements thirty times in a row is not testing anything."""

STEP, COMMIT, ROLLBACK = "step", "commit", "rollback"


@dataclass(frozen=True)
class Scenario:
    """Who does what from which rows."""

    family: Family
    actions: tuple[Action, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    """Other texts than the registry's, by the statement's name: what a control has weakened."""
    login: Role | None = None
    """The login of every session; None: each statement's own."""
    with_rollbacks: bool = True
    lapses: bool = False
    """Whether leases lapse while somebody waits, before whoever is waited for ends."""

    def __str__(self) -> str:
        return f"{self.family.name}: {' x '.join(action.name for action in self.actions)}"


@dataclass
class Outcome:
    """What one schedule came to."""

    scenario: Scenario
    trace: list[str] = field(default_factory=list)
    choices: list[tuple[int, int]] = field(default_factory=list)
    """At each turn: which option was taken, of how many."""
    met: set[tuple[str, str]] = field(default_factory=set)
    surprises: list[str] = field(default_factory=list)
    """Answers and waits other than those the rules lead to."""
    broken: list[str] = field(default_factory=list)
    """Promises that the rows and answers break."""
    was_too_slow: bool = False
    """Whether the lease lapsed before anybody waited, so that the schedule shows nothing."""

    @property
    def is_as_expected(self) -> bool:
        """Whether every answer, wait and row was the expected one, and every promise was kept."""
        return not self.surprises and not self.broken

    def __str__(self) -> str:
        return f"{self.scenario}\n    {', '.join(self.trace)}\n    " + "\n    ".join(self.surprises + self.broken)


Choose = "Callable[[list[tuple[Actor, str]]], int]"


class Run:
    """One schedule, from its rows to its judgment."""

    def __init__(self, bench: Bench, scenario: Scenario, choices: list[int]) -> None:
        self._bench = bench
        self._choices = choices
        self.outcome = Outcome(scenario)
        self._actors = [self._actor(index, action) for index, action in enumerate(scenario.actions)]
        self._expected = Transactions(scenario.family.rows, [actor.name for actor in self._actors])
        self._told: list[dict[str, Any]] = []

    def _actor(self, index: int, action: Action) -> Actor:
        scenario = self.outcome.scenario
        session = self._bench.session(index, scenario.login or action.role)
        return Actor("ABCD"[index], index, action, session, scenario.texts)

    def play(self) -> Outcome:
        """Run the schedule to its end and judge what it left."""
        self._bench.lay_out(self.outcome.scenario.family)
        while any(not actor.ended for actor in self._actors):
            options = self._options()
            if options:
                self._take(*options[self._choose(len(options))])
            self._settle(until_one_answers=not options)
        self._judge()
        return self.outcome

    def _options(self) -> list[tuple[Actor, str]]:
        free = [actor for actor in self._actors if not actor.ended and not actor.is_blocked]
        return [(actor, way) for actor in free for way in self._ways(actor)]

    def _ways(self, actor: Actor) -> list[str]:
        if actor.step is not None:
            return [STEP]
        seen = any(other.began and not other.ended for other in self._actors if other is not actor)
        return [COMMIT, ROLLBACK] if seen and self.outcome.scenario.with_rollbacks else [COMMIT]

    def _choose(self, count: int) -> int:
        turn = len(self.outcome.choices)
        chosen = min(self._choices[turn], count - 1) if turn < len(self._choices) else 0
        self.outcome.choices.append((chosen, count))
        return chosen

    def _take(self, actor: Actor, way: str) -> None:
        if way == STEP:
            self._start(actor)
        else:
            self._end(actor, way)

    def _start(self, actor: Actor) -> None:
        assert actor.step is not None
        self.outcome.trace.append(f"{actor.name} {actor.step.statement}")
        self._note_whom_it_meets(actor, actor.step)
        self._expected.start(actor.name, actor.step)
        actor.started_after = len(self._told)
        actor.send()

    def _note_whom_it_meets(self, actor: Actor, step: Step) -> None:
        rows = self.outcome.scenario.family.jobs
        mine = about(step.statement, step.call, rows)
        for other in self._actors:
            if other is not actor and not other.ended:
                done = [each.statement for each in other.done if about(each.statement, each.call, rows) & mine]
                self.outcome.met |= {(statement, step.statement) for statement in done}

    def _lapse(self) -> None:
        self.outcome.trace.append("the lease lapses")
        self.outcome.was_too_slow |= not self._bench.lapse()
        self._expected.lapse()
        for actor in self._actors:
            actor.has_lapsed = True

    def _end(self, actor: Actor, way: str) -> None:
        if self.outcome.scenario.lapses and any(other.is_blocked for other in self._actors):
            self._lapse()
        self.outcome.trace.append(f"{actor.name} {way}")
        result = actor.session.finish(way.upper())
        if result.sqlstate is not None:
            self._be_surprised(f"{actor.name} could not commit: {result.error}")
        committed = way == COMMIT and result.sqlstate is None
        self._expected.end(actor.name, commit=committed)
        self._told += actor.told if committed else []
        actor.ended = True

    def _settle(self, *, until_one_answers: bool = False) -> None:
        """Let every statement under way come to its answer or to a wait, and hold both to the rules."""
        give_up_at = time.monotonic() + SETTLE_SECONDS
        while pending := [actor for actor in self._actors if actor.is_blocked]:
            assert time.monotonic() < give_up_at, f"{self.outcome}: nothing moves"
            answered = self._answered(pending)
            for actor, result in answered:
                self._receive(actor, result)
            if answered:
                until_one_answers = False
            elif not until_one_answers and self._all_wait(pending):
                break
        for actor in self._actors:
            if actor.is_blocked:
                self._expect_wait(actor)

    def _answered(self, pending: list[Actor]) -> list[tuple[Actor, Result]]:
        wait_for_any([actor.session for actor in pending], POLL_SECONDS)
        answers = [(actor, actor.session.receive()) for actor in pending]
        return [(actor, result) for actor, result in answers if result is not None]

    def _all_wait(self, pending: list[Actor]) -> bool:
        ours = {actor.session.pid for actor in self._actors}
        waits = self._bench.observer.waits([actor.session.pid for actor in pending])
        return all(blockers & ours for blockers in waits.values())

    def _expect_wait(self, actor: Actor) -> None:
        assert actor.step is not None
        if f"{actor.name} waits" not in self.outcome.trace:
            self.outcome.trace.append(f"{actor.name} waits")
        if not self._expected.waits_for(actor.name, actor.step, surely=False):
            self._be_surprised(f"{actor.name} waits in {actor.step.statement}, and nothing it needs is held")

    def _receive(self, actor: Actor, result: Result) -> None:
        step = actor.step
        assert step is not None
        if holders := self._expected.waits_for(actor.name, step):
            self._be_surprised(f"{actor.name} did not wait for {', '.join(sorted(holders))} in {step.statement}")
        expected, answer = self._expected.complete(actor.name, step), actor.receive(result)
        self.outcome.trace.append(f"{actor.name}: {answer}")
        if answer != expected:
            self._be_surprised(f"{actor.name} was told {answer} by {step.statement}, expected was {expected}")
        self._go_on(actor)

    def _go_on(self, actor: Actor) -> None:
        """Take the turns that nobody can tell from no turn: a failed or empty transaction ends, a look follows."""
        if actor.session.has_failed:
            self._end(actor, ROLLBACK)
        elif actor.step is not None and actor.step.text is not None:
            self._start(actor)
        elif actor.step is None and not self._expected.open[actor.name].matters:
            self._end(actor, COMMIT)

    def _be_surprised(self, words: str) -> None:
        # After the first the expectation has lost its footing; what it says then means nothing.
        if not self.outcome.surprises:
            self.outcome.surprises.append(words)

    def _judge(self) -> None:
        rows, broken = self._bench.judge(self._told)
        self.outcome.broken = broken
        for name, found in rows.items():
            row = self._expected.committed.get(name)
            if row is not None and row.lease is not Lease.LAPSING and self._bench.facts(row) != found:
                self._be_surprised(f"{name} is {found}, expected was {self._bench.facts(row)}")


def expect_all(bench: Bench, scenario: Scenario, kind: str) -> None:
    """Run every schedule and expect of each what the rules lead to, and that it keeps every promise."""
    for outcome in explore(bench, scenario):
        bench.tally[f"{kind}: schedules"] += 1
        bench.tally[f"{kind}: schedules in which somebody waited"] += any("waits" in step for step in outcome.trace)
        bench.met |= outcome.met
        assert outcome.is_as_expected, str(outcome)
    bench.tally[f"{kind}: scenarios"] += 1


def _play(bench: Bench, scenario: Scenario, choices: list[int]) -> Outcome:
    for _ in range(TRIES):
        try:
            outcome = Run(bench, scenario, choices).play()
        except BaseException:
            bench.start_over()
            raise
        if not outcome.was_too_slow:
            return outcome
    raise AssertionError(f"{scenario}: the lease lapsed too early {TRIES} times")


def explore(bench: Bench, scenario: Scenario) -> Iterator[Outcome]:
    """Run every schedule of a scenario: all orders of its steps and all ways to end that can happen."""
    choices: list[int] = []
    while True:
        outcome = _play(bench, scenario, choices)
        yield outcome
        taken = outcome.choices
        while taken and taken[-1][0] + 1 >= taken[-1][1]:
            taken = taken[:-1]
        if not taken:
            return
        choices = [*(chosen for chosen, _ in taken[:-1]), taken[-1][0] + 1]
