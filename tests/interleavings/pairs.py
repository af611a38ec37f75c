"""Which two things are done at once, from which rows: generated from the registry, so that none is forgotten."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

from exports.states import Authorization
from tests.interleavings.doing import actions_on, twin
from tests.interleavings.harness import Scenario
from tests.interleavings.rules import APPLIED, View
from tests.interleavings.special import EXPECTED
from tests.interleavings.starting import FAMILIES, ONLY_FOR, SOLO_ONLY
from tests.interleavings.touching import about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interleavings.acting import Action
    from tests.interleavings.starting import Family

Rows = dict[str, Any]
_HOLDS_SOMETHING = frozenset({"append_evidence", "collect_acknowledgment", "open_hold", "dispatch", "create_export"})
"""Programs that apply whatever the state. They are paired with those that have a home, not with each other."""
_DECIDES = {
    "cancel": ("cancel_queued", "request_stop"),
    "claim a slot": ("claim",),
}
"""The statements of a program that change an export."""
_UNDER_ITS_LOCK = {"cancel": ("lock_for_cancellation", "record_cancellation"), "claim a slot": ("lock_gate",)}
"""Those that a program runs beside them."""
_WAITS_FOR_NOBODY = frozenset({"append_evidence", "collect_acknowledgment"})
"""Programs beside which nobody waits, so that it changes nothing for others how they end."""
_MAY_BE_REPEATED = frozenset({"cancel", "create_export"})
"""Programs whose caller sends the same again, with the same identity, when no answer came."""
_OF_THE_ORIGINAL = frozenset({"authorize_delivery", "correct", "create_replacement"})
"""Programs that ask for more of a replacement than its own row."""


def all_pairs() -> list[Scenario]:
    """Return every pair there is to run: those that can get in each other's way, then one of each other two."""
    found = [pair for name, family in FAMILIES.items() if name not in SOLO_ONLY for pair in pairs_of(family)]
    known = {meeting for pair in found for meeting in _meetings(pair)}
    for pair in _rarer_pairs():
        if not _meetings(pair) <= known:
            known |= _meetings(pair)
            found.append(pair)
    return found


def pairs_of(family: Family) -> Iterator[Scenario]:
    """Return every two actions that can get in each other's way from these rows."""
    for pair in _any_pairs_of(family, [action for action in actions_on(family) if not action.is_edge]):
        one, other = pair.actions
        is_of_interest = {one.program, other.program} & ONLY_FOR.get(family.name, {one.program})
        if is_of_interest and (_hinders(family, one, other) or _hinders(family, other, one)):
            yield pair


def _rarer_pairs() -> Iterator[Scenario]:
    """Return what is left: pairs of which one has nothing to do where the other is at home."""
    for family in FAMILIES.values():
        yield from _any_pairs_of(family, [action for action in actions_on(family) if not action.is_edge])
    for family in FAMILIES.values():
        yield from _any_pairs_of(family, actions_on(family))


def _meetings(pair: Scenario) -> set[tuple[str, str]]:
    """Return which statement can be started while which other is not committed, as far as this pair goes."""
    one, other = pair.actions
    family = pair.family
    first = {(a, other.statements[0]) for a in _lasting(family, one)}
    return first | {(b, one.statements[0]) for b in _lasting(family, other)}


def _lasting(family: Family, action: Action) -> list[str]:
    rows = rows_of(family)
    found = [name for name in _decisive(action) if _applies(name, rows, action)]
    return found + list(_UNDER_ITS_LOCK.get(action.program, ()))


def _any_pairs_of(family: Family, actions: list[Action]) -> Iterator[Scenario]:
    for one, other in combinations_with_replacement(actions, 2):
        if _touches(family, one) & _touches(family, other) and not _is_known_alone(family, one, other):
            both = (one, twin(other) if one is other else other)
            waits = not {one.program, other.program} & _WAITS_FOR_NOBODY or one.program == other.program
            yield Scenario(family, both, with_rollbacks=waits)
            if one is other and one.program in _MAY_BE_REPEATED:
                yield Scenario(family, (one, replace(one, name=f"{one.name}, repeated")))


def _is_known_alone(family: Family, one: Action, other: Action) -> bool:
    """Whether both are about one export of two, and nothing depends on there being another."""
    if family.other is None or one.call.target != other.call.target:
        return False
    of_both = _OF_THE_ORIGINAL if family.jobs[one.call.target].original else {"create_replacement"}
    return not {one.program, other.program} & of_both


def _hinders(family: Family, one: Action, other: Action) -> bool:
    """Whether the first changes something, and the other waits for that or comes into its own by it."""
    before = rows_of(family)
    after = _after(before, one)
    if after is None:
        return one.program == other.program and one.program in _HOLDS_SOMETHING and _is_plain(family)
    return _wants(before, other) or _after(after, other) is not None


def _is_plain(family: Family) -> bool:
    """Whether this is a state in which two of those that always apply are tried against each other."""
    return family.name in {"queued", "queued, not published", "delivering"}


def rows_of(family: Family) -> Rows:
    """Return the rows a schedule of this family starts from."""
    return family.rows


def _wants(rows: Rows, action: Action) -> bool:
    """Whether an action waits for, or passes over, rows that somebody holds."""
    if action.program in {"sweep", "wake_waiting"}:
        return _after(rows, action) is not None
    # A full destination's gate is waited for too; that is tried where somebody can get through it.
    first = "claim" if action.program == "claim a slot" else action.statements[0]
    return bool(EXPECTED[first].wants(View(rows), action.call))


def _decisive(action: Action) -> tuple[str, ...]:
    return _DECIDES.get(action.program, action.statements)


def _applies(statement: str, rows: Rows, action: Action) -> bool:
    if action.program == "dispatch":
        return True
    answer, _ = EXPECTED[statement].does(View(rows), action.call)
    return answer in {APPLIED, Authorization.AUTHORIZED.value}


def _after(rows: Rows, action: Action) -> Rows | None:
    """Return the rows as an action leaves them if it changes an export; None if it changes none."""
    if action.program not in _HOLDS_SOMETHING:
        for statement in _decisive(action):
            if _applies(statement, rows, action):
                return rows | EXPECTED[statement].does(View(rows), action.call)[1]
    return None


def _touches(family: Family, action: Action) -> set[str]:
    """Return what an action is about."""
    jobs = family.jobs
    return {row for statement in action.statements for row in about(statement, action.call, jobs)}
