"""`manage.py audit_exports`: lines and exit status, or one JSON object."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import connections

from exports.audit import RULES
from exports.states import Status
from tests.audit.healthy import correct, replaced
from tests.recovery.lives import ALIASES, a_place, now, queued

if TYPE_CHECKING:
    from exports.models import ExportJob

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def call(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("audit_exports", *options, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def violated() -> ExportJob:
    job = queued(a_place())
    with connections["default"].cursor() as cursor:
        cursor.execute("DELETE FROM outbox WHERE job_id = %s", [job.id])
    return job


def test_without_violations_it_says_so_and_exits_0() -> None:
    queued(a_place())

    assert call() == (0, "violations: 0\n")


def test_a_violation_is_a_line_with_promise_rule_and_export_and_exit_1() -> None:
    job = violated()

    code, said = call()

    first, last = said.splitlines()
    assert code == 1
    assert first.startswith(f"I5 queued_without_wake_up: {job.id} is Queued since ")
    assert last == "violations: 1"


def test_a_notice_is_no_violation() -> None:
    replacement = replaced(a_place())
    assert replacement.replaces_job_id is not None
    correct(now(replacement.replaces_job_id), Status.COMPLETED)

    code, said = call()

    assert code == 0
    assert said.startswith("notice: I8 duplicate_delivery: ")
    assert said.endswith("violations: 0\n")


def test_as_json_it_names_every_rule_and_what_each_found() -> None:
    job = violated()

    code, said = call("--json")
    report: dict[str, Any] = json.loads(said)

    assert (code, report["violations"]) == (1, 1)
    assert report["findings"][0]["subject"] == str(job.id)
    assert {rule["rule"] for rule in report["rules"]} == {rule.name for rule in RULES}
