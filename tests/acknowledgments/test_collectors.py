"""Several collectors, people and crashes at once: each acknowledgment once, each export settled once (I1, I2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exports import crashpoints
from exports.audit import audit
from exports.evidence import Acknowledged, Bound, encode
from exports.models import DestinationContract, ExportAttemptEvent
from exports.sql import STATEMENTS
from exports.states import EventKind, Status
from tests.acknowledgments.waiting import (
    acknowledgments_of,
    collect,
    file_of,
    reconciled,
    status_of,
    unknown,
)
from tests.faults.scenarios import BY_NAME
from tests.faults.test_crash_points import lose_line
from tests.recovery import lives
from tests.recovery.lives import ALIASES
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by
from tests.settling import settled

if TYPE_CHECKING:
    import psycopg

    from exports.models import ExportJob
    from tests.acknowledgments.waiting import At

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

BY_RULE = {"settled_past_its_contract", "row_disagrees_with_history", "impossible_history", "event_of_no_attempt"}
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def append_as_another(connection: psycopg.Connection[Any], job: ExportJob) -> list[tuple[Any, ...]]:
    """Run the statement of another collector that saw the same empty file."""
    name = f"{file_of(job)}.ack"
    seen = {"job_id": job.id, "attempt_id": job.attempt_id, "name": name, "mark": EMPTY}
    told = {"observed_by": "another", "detail": encode(Acknowledged(Bound.ATTEMPT, name=name))}
    return connection.execute(STATEMENTS["collect_acknowledgment"].text.encode(), seen | told).fetchall()


@pytest.mark.parametrize(("end", "appended"), [("COMMIT", 0), ("ROLLBACK", 1)])
def test_of_two_collectors_at_once_the_second_waits_and_appends_only_what_the_first_did_not(
    at: At, end: str, appended: int
) -> None:
    job = unknown(at.place(completes_automatically=False))
    at.write(f"{file_of(job)}.ack")
    with session("acknowledger") as first:
        first.execute("BEGIN")
        assert append_as_another(first, job)
        second = Background(collect)
        wait_until_blocked_by(first)
        first.execute(end)
    counts = second.result()

    assert (counts.appended, counts.seen_before) == (appended, 1 - appended)
    assert len(acknowledgments_of(job)) == 1


def test_collectors_that_run_side_by_side_append_and_complete_everything_once(at: At) -> None:
    place = at.place()
    jobs = [unknown(place) for _ in range(6)]
    for job in jobs:
        at.write(f"{file_of(job)}.ack")

    counts = [each.result() for each in [Background(collect) for _ in range(3)]]

    assert sum(each.appended for each in counts) == len(jobs)
    assert sum(each.completed for each in counts) == len(jobs)
    assert [len(acknowledgments_of(job)) for job in jobs] == [1] * len(jobs)
    assert {status_of(job) for job in jobs} == {Status.COMPLETED}


def test_a_person_who_reconciles_first_makes_the_rule_wait_and_then_do_nothing(at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    with session("reconciliation") as person:
        person.execute("BEGIN")
        run(
            person,
            "reconcile",
            tenant_id=job.tenant_id,
            job_id=job.id,
            attempt_id=job.attempt_id,
            resolution="Failed",
            reconciled_by=settled.ROSA,
            evidence_ref="ticket 7",
            reason="it never came",
        )
        rule = Background(collect)
        wait_until_blocked_by(person)
        person.execute("COMMIT")
    counts = rule.result()

    assert (counts.appended, counts.completed, counts.moved_on) == (1, 0, 1)
    assert status_of(job) == Status.FAILED
    assert reconciled(job.id).observed_by == settled.ROSA


def test_evidence_that_comes_between_the_verdict_and_the_write_stops_the_write(at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    refused = Acknowledged(Bound.ATTEMPT, positive=False, name=f"{file_of(job)}.nak")
    crashpoints.arm("acknowledgment.complete.before", lambda: lives.append(job, refused))

    counts = collect()

    assert (counts.appended, counts.completed, counts.moved_on) == (1, 0, 1)
    crashpoints.disarm()
    assert collect().completed == 0
    assert status_of(job) == Status.OUTCOME_UNKNOWN


@pytest.mark.parametrize("point", BY_NAME["acknowledge"].points)
def test_a_crash_at_any_point_leaves_the_rest_to_the_next_run(at: At, point: str) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    crashpoints.arm_from(f"{point}=raise")
    with pytest.raises(crashpoints.Crashed):
        collect()

    collect()
    assert_once_completed(job)


@pytest.mark.parametrize("point", BY_NAME["acknowledge"].points)
def test_a_line_lost_at_any_point_ends_the_run_and_leaves_the_rest_to_the_next(at: At, point: str) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    struck: list[str] = []

    def once() -> None:
        if not struck:
            struck.append(point)
            lose_line("acknowledger")

    crashpoints.arm(point, once)

    counts = [collect(), collect()]

    assert struck
    assert counts[0].failed == 0
    assert_once_completed(job)


def assert_once_completed(job: ExportJob) -> None:
    assert status_of(job) == Status.COMPLETED
    assert len(acknowledgments_of(job)) == 1
    assert ExportAttemptEvent.objects.filter(job_id=job.id, kind=EventKind.RECONCILED).count() == 1


def test_what_the_rule_completes_stands_before_the_audit(at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    assert collect().completed == 1

    assert [str(finding) for finding in audit("auditor") if finding.rule.name in BY_RULE] == []
    DestinationContract.objects.update(terms={})
    found = [finding for finding in audit("auditor") if finding.rule.name in BY_RULE]
    assert [finding.rule.name for finding in found] == ["settled_past_its_contract"]


def test_what_its_evidence_proves_is_completed_without_asking_the_partner_again(at: At) -> None:
    job = unknown(at.place())
    lives.append(job, Acknowledged(Bound.ATTEMPT, name=f"{file_of(job)}.ack"))

    counts = collect()

    assert (counts.places, counts.completed) == (0, 1)
    assert str(reconciled(job.id).detail).startswith("Completed: acknowledgment ")
