"""The table of transitions is stated in states.py, in the trigger and in the headers: the three are equal.

The trigger is compared by what it does, in test_transitions and test_births; here the headers are.
"""

from __future__ import annotations

import re

import pytest

import reconciliation.sql
from exports.sql import STATEMENTS
from exports.states import EVENT_WRITERS, TRANSITIONS, Role, Status

assert reconciliation.sql  # registers its statements

_NAME = "|".join(Status)
_MOVES = re.compile(rf"^(?P<found>\(born\)|{_NAME}) (?P<way>→|↔) (?P<wanted>(?:{_NAME})(?:(?:, | or )(?:{_NAME}))*)")


def header_moves(moves: str) -> set[tuple[Status | None, Status]]:
    """Read the moves a header states; none when it states none."""
    match = _MOVES.match(moves)
    if match is None:
        assert moves.startswith("nothing"), f"a header states its moves or nothing: {moves}"
        return set()
    found = None if match["found"] == "(born)" else Status(match["found"])
    wanted = [Status(name) for name in re.split(r", | or ", match["wanted"])]
    there = {(found, status) for status in wanted}
    back = {(wanted[0], found)} if match["way"] == "↔" and found is not None else set()
    return there | back


def test_the_headers_state_exactly_the_moves_of_the_table_with_their_roles() -> None:
    stated = {
        (*move, Role(role))
        for statement in STATEMENTS.values()
        for move in header_moves(statement.moves)
        for role in statement.roles
    }
    table = {(*move, role) for move, roles in TRANSITIONS.items() for role in roles}
    assert stated == table


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_that_moves_writes_events_only_its_role_may_write(name: str) -> None:
    statement = STATEMENTS[name]
    kinds = [
        kind
        for kind in EVENT_WRITERS
        if f"'{kind}', " in statement.text and "export_attempt_events (" in statement.text
    ]
    for kind in kinds:
        assert set(statement.roles) <= EVENT_WRITERS[kind], kind


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_every_header_names_known_logins(name: str) -> None:
    roles = STATEMENTS[name].roles
    assert roles
    assert set(roles) <= set(Role)
    assert Role.OWNER not in roles
