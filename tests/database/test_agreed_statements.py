"""The statements about destinations and contracts: each prepares, is the web process's alone, and touches no export."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from exports.managers.agreed import AGREED
from exports.sql import STATEMENTS
from exports.states import Role
from tests.database.guarded import DENIED, refusal
from tests.database.test_statements import numbered

if TYPE_CHECKING:
    from tests.database.conftest import Login


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
@pytest.mark.parametrize("name", sorted(AGREED))
def test_an_agreed_statement_prepares_and_is_permitted_to_the_web_process_alone(
    resident: Login, name: str, role: Role
) -> None:
    session = resident(role)
    text, names = numbered(AGREED[name].text)
    session.execute(f"PREPARE tried AS {text}")
    try:
        denied = refusal(session, f"EXPLAIN EXECUTE tried({', '.join(['NULL'] * len(names))})") == DENIED
    finally:
        session.execute("DEALLOCATE tried")
    assert AGREED[name].roles == (Role.API,)
    assert denied is not (role is Role.API)


@pytest.mark.parametrize("name", sorted(AGREED))
def test_an_agreed_statement_types_every_parameter_and_writes_no_export(name: str) -> None:
    text = AGREED[name].text
    assert not re.search(r"%(?!\(\w+\)s)", text)
    assert not re.search(r"%\(\w+\)s(?!::)", text)
    assert not re.search(r"\b(export_jobs|outbox|deliveries|export_attempt_events|cancellation_requests)\b", text)
    assert name not in STATEMENTS


def test_no_statement_lies_unused_beside_them() -> None:
    assert set(AGREED) == {
        "change_destination",
        "confirm_contract",
        "create_destination",
        "decline_contract",
        "lock_destination",
        "propose_contract",
        "seal_credential",
    }
