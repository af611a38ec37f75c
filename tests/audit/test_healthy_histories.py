"""Correct histories find nothing, however odd they look; a duplicate that the evidence explains is a notice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports.audit import RULES, audit
from exports.states import Status
from tests.audit.healthy import HISTORIES, correct, replaced
from tests.recovery.crowds import Crowd, Kind, gather
from tests.recovery.lives import ALIASES, Place, a_place, now

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import ExportJob

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def found() -> list[str]:
    return [str(finding) for finding in audit("auditor")]


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_a_history_that_the_product_wrote_finds_nothing(history: Callable[[Place], ExportJob]) -> None:
    history(a_place())

    assert found() == []


def test_every_status_is_among_the_healthy_histories() -> None:
    place = a_place()
    statuses = {history(place).status for history in HISTORIES}

    assert statuses == set(Status)
    assert found() == []


def test_an_original_corrected_to_completed_after_its_replacement_delivered_is_a_duplicate_not_a_violation() -> None:
    replacement = replaced(a_place())
    assert replacement.replaces_job_id is not None
    original = correct(now(replacement.replaces_job_id), Status.COMPLETED)

    findings = list(audit("auditor"))

    assert [finding.rule.name for finding in findings] == ["duplicate_delivery"]
    assert not findings[0].rule.is_violation
    assert findings[0].subject == str(original.id)
    assert all(word in findings[0].found for word in (str(replacement.id), "Corrected by user:carl", "ticket 2"))


def test_an_empty_database_finds_nothing() -> None:
    assert found() == []


def test_the_auditors_role_reads_everything_that_the_rules_ask() -> None:
    assert {rule.promise for rule in RULES} == {f"I{number}" for number in range(1, 11)}
    with connections["auditor"].cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("exports_auditor",)


def test_large_tables_are_audited_in_bounded_time() -> None:
    """20,000 exports and 160,000 events: every rule reads its tables about once."""
    place = a_place()
    gather(Crowd(place, Kind.RECEIPT, 15_000, expired_seconds=-60))
    gather(Crowd(place, Kind.AT_THE_CAP, 5_000, expired_seconds=-60))
    with connections["default"].cursor() as cursor:
        cursor.execute("ANALYZE")

    began = time.monotonic()
    findings = found()

    assert findings == []
    assert time.monotonic() - began < 60
