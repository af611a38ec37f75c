"""The expectation covers the registry: a new statement has to be given its rule, its roles and its meetings."""

from __future__ import annotations

from exports.sql import STATEMENTS
from exports.states import TRANSITIONS, Status
from tests.interleavings.binding import parameters
from tests.interleavings.doing import actions_on
from tests.interleavings.moves import RULES
from tests.interleavings.rules import Call
from tests.interleavings.special import EXPECTED, LOOKS
from tests.interleavings.starting import FAMILIES


def test_every_statement_of_the_registry_has_a_rule_and_no_rule_is_left_over() -> None:
    assert EXPECTED.keys() - LOOKS.keys() == STATEMENTS.keys()


def test_every_statement_is_run_by_somebody() -> None:
    run = {name for family in FAMILIES.values() for action in actions_on(family) for name in action.statements}
    assert run == STATEMENTS.keys()


def test_every_parameter_of_every_statement_is_bound() -> None:
    bound = parameters(Call(target="original"), 0).keys()
    assert {name: each.parameters - bound for name, each in STATEMENTS.items() if each.parameters - bound} == {}


def test_every_statement_is_run_as_a_login_of_its_header() -> None:
    wrong = {name for name, each in STATEMENTS.items() if EXPECTED[name].role.value not in each.roles}
    assert wrong == set()


def test_the_rules_move_exports_exactly_as_the_table_of_transitions_says() -> None:
    moves = {move for rule in RULES.values() for move in rule.moves if move[0] is not move[1]}
    moves.add((Status.RUNNING, Status.DELIVERING))  # authorize_delivery, whose rule is not of that shape
    assert moves == {move for move in TRANSITIONS if move[0] is not None}


def test_every_move_is_made_by_a_role_of_the_table() -> None:
    wrong = {
        (name, move)
        for name, rule in RULES.items()
        for move in rule.moves
        if move[0] is not move[1] and rule.role not in TRANSITIONS[move]
    }
    assert wrong == set()
