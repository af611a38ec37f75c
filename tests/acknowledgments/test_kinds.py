"""Each kind of acknowledgment with real files at the partner: yes, no, both, late, again, and what is none."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from exports.contracts import Permissions
from exports.evidence import Bound
from exports.states import Status
from reconciliation.acknowledgments.collecting import Collected, Collector
from tests.acknowledgments.waiting import (
    HASH,
    LEFT,
    MARKER,
    MOVED,
    TAKEN,
    acknowledgments_of,
    authorized_ago,
    collect,
    completed,
    file_of,
    reconciled,
    status_of,
    unannounced,
    unknown,
)
from tests.recovery.lives import ALIASES, CONTENT

if TYPE_CHECKING:
    from tests.acknowledgments.waiting import At

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


# A file appears


def test_a_file_that_appears_completes_an_unknown_outcome_by_the_rule(at: At) -> None:
    job = unknown(at.place())
    assert collect().appended == 0
    at.write(f"{file_of(job)}.ack", b"received 2 rows")

    counts = collect()

    assert (counts.appended, counts.completed) == (1, 1)
    assert status_of(job) == Status.COMPLETED
    event = reconciled(job.id)
    assert event.observed_by == "rule:acknowledgment"
    assert str(event.detail).startswith(f"Completed: acknowledgment {file_of(job)}.ack; the partner acknowledged")
    [record] = acknowledgments_of(job)
    assert (record.bound, record.positive, record.text) == (Bound.ATTEMPT, True, "received 2 rows")
    assert record.observed_by.startswith("acknowledgments:")


def test_a_contract_that_does_not_let_the_rule_complete_gets_the_evidence_and_nothing_else(at: At) -> None:
    job = unknown(at.place(completes_automatically=False))
    at.write(f"{file_of(job)}.ack")

    assert (collect().appended, status_of(job)) == (1, Status.OUTCOME_UNKNOWN)
    assert [record.bound for record in acknowledgments_of(job)] == [Bound.ATTEMPT]


def test_a_refusal_is_kept_and_changes_no_status(at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.nak", b"row 2: no such country")

    counts = collect()

    assert (counts.appended, counts.completed) == (1, 0)
    assert status_of(job) == Status.OUTCOME_UNKNOWN
    [record] = acknowledgments_of(job)
    assert (record.positive, record.text) == (False, "row 2: no such country")


def test_a_partner_that_says_yes_and_no_leaves_the_outcome_unknown(at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.nak")
    at.write(f"{file_of(job)}.ack")

    assert collect().appended == 2
    collect()
    assert status_of(job) == Status.OUTCOME_UNKNOWN


def test_acknowledgments_are_looked_for_in_their_own_directory_and_under_their_own_prefix(at: At) -> None:
    (at.account.directory / "acks").mkdir()
    job = unknown(at.place(directory="/acks", prefix="ACK_", suffix=""))
    at.write(f"ACK_{file_of(job)}")
    assert collect().appended == 0
    at.rename(f"ACK_{file_of(job)}", f"acks/ACK_{file_of(job)}")
    assert collect().completed == 1


def test_an_acknowledgment_that_may_not_be_read_still_counts_by_its_name(at: At) -> None:
    job = unknown(at.place(contract={"permissions": Permissions(may_read=False)}))
    at.write(f"{file_of(job)}.ack", b"secret")

    assert collect().completed == 1
    assert acknowledgments_of(job)[0].text == "a file of 6 bytes, not read"


def test_a_partner_that_only_lists_is_asked_once_for_all_names(at: At) -> None:
    place = at.place(contract={"permissions": Permissions(may_stat=False, may_list=True, may_read=True)})
    jobs = [unknown(place) for _ in range(3)]
    for job in jobs[:2]:
        at.write(f"{file_of(job)}.ack")

    assert collect().completed == 2
    assert [status_of(job) for job in jobs] == [Status.COMPLETED] * 2 + [Status.OUTCOME_UNKNOWN]


def test_an_acknowledgment_that_names_another_content_is_tied_to_the_key_alone(at: At) -> None:
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack", b"sha256=" + b"0" * 64)

    assert (collect().appended, status_of(job)) == (1, Status.OUTCOME_UNKNOWN)
    assert acknowledgments_of(job)[0].bound is Bound.KEY


def test_a_checksum_file_with_our_hash_is_an_acknowledgment_like_any_other(at: At) -> None:
    job = unknown(at.place(suffix=".sha256"))
    at.write(f"{file_of(job)}.sha256", f"{HASH.upper()}  {file_of(job)}\n".encode())

    assert collect().completed == 1


# Our file under another name


def test_a_file_that_was_renamed_completes_an_unknown_outcome(at: At) -> None:
    job = unknown(at.place(MOVED))
    at.write(file_of(job), CONTENT)
    assert collect().appended == 0
    at.rename(file_of(job), f"{file_of(job)}.ack")

    assert collect().completed == 1
    assert status_of(job) == Status.COMPLETED


def test_a_file_that_was_renamed_as_rejected_is_a_refusal(at: At) -> None:
    job = unknown(at.place(MOVED))
    at.write(f"{file_of(job)}.nak", CONTENT)

    assert (collect().appended, status_of(job)) == (1, Status.OUTCOME_UNKNOWN)
    assert not acknowledgments_of(job)[0].positive


@pytest.mark.parametrize("beside", [False, True])
def test_a_renamed_file_of_another_size_or_beside_the_final_one_is_tied_to_the_key_alone(
    at: At, *, beside: bool
) -> None:
    job = unknown(at.place(MOVED))
    at.write(f"{file_of(job)}.ack", CONTENT if beside else CONTENT + b"more")
    if beside:
        at.write(file_of(job), CONTENT)

    assert (collect().appended, status_of(job)) == (1, Status.OUTCOME_UNKNOWN)
    assert acknowledgments_of(job)[0].bound is Bound.KEY


# A marker disappears


def test_a_marker_that_was_seen_and_is_gone_completes_an_unknown_outcome(at: At) -> None:
    job = unannounced(at.place(TAKEN))
    at.write(f"{file_of(job)}{MARKER}")
    assert collect().appended == 0
    at.remove(f"{file_of(job)}{MARKER}")

    assert collect().completed == 1
    assert status_of(job) == Status.COMPLETED


def test_a_marker_that_nobody_saw_placed_says_nothing_by_its_absence(at: At) -> None:
    job = unknown(at.place(TAKEN))

    counts = collect()

    assert (counts.sought, counts.appended) == (1, 0)
    assert status_of(job) == Status.OUTCOME_UNKNOWN


def test_a_directory_that_is_not_there_makes_no_marker_disappear(at: At) -> None:
    job = unannounced(at.place(TAKEN))
    unmounted = at.account.directory.rename(at.account.directory.with_suffix(".unmounted"))

    counts = collect()

    assert (counts.appended, counts.unanswered) == (0, 2)
    unmounted.rename(at.account.directory)
    assert collect().completed == 1
    assert status_of(job) == Status.COMPLETED


def test_beside_a_marker_a_refusal_is_a_file(at: At) -> None:
    job = unannounced(at.place(TAKEN))
    at.write(f"{file_of(job)}{MARKER}")
    at.write(f"{file_of(job)}.nak")

    assert (collect().appended, status_of(job)) == (1, Status.OUTCOME_UNKNOWN)
    assert not acknowledgments_of(job)[0].positive


# Late, again, and not at all


def test_a_late_acknowledgment_is_logged_as_missing_once_and_still_completes_when_it_comes(
    at: At, caplog: pytest.LogCaptureFixture
) -> None:
    job = unknown(at.place(due_seconds=60))
    authorized_ago(job, seconds=100_000)
    collector = Collector("acknowledger")
    with caplog.at_level(logging.WARNING):
        counts = [collect_again(collector) for _ in range(2)]
    assert [each.overdue for each in counts] == [1, 0]
    assert [record.message for record in caplog.records].count("acknowledgment_overdue") == 1
    assert status_of(job) == Status.OUTCOME_UNKNOWN

    at.write(f"{file_of(job)}.ack")
    assert collect_again(collector).completed == 1


def collect_again(collector: Collector) -> Collected:
    collector.memory._visited_at.clear()
    return collect(collector)


def test_an_acknowledgment_is_appended_once_however_often_it_is_seen(at: At) -> None:
    job = unknown(at.place(completes_automatically=False))
    at.write(f"{file_of(job)}.ack", b"ok")

    assert [(each.appended, each.seen_before) for each in (collect(), collect(), collect())] == [(1, 0), (0, 1), (0, 1)]
    assert len(acknowledgments_of(job)) == 1


def test_an_acknowledgment_that_is_written_anew_is_new_but_not_without_end(at: At) -> None:
    job = unknown(at.place(completes_automatically=False))
    for number in range(13):
        at.write(f"{file_of(job)}.ack", b"attempt %d" % number)
        collect()

    assert len(acknowledgments_of(job)) == 10


def test_a_completed_delivery_without_proof_is_looked_for_until_its_deadline(at: At) -> None:
    place = at.place(due_seconds=3600, poll_seconds=10)
    fresh, past, proved = completed(place), completed(place), completed(place, sha256=HASH)
    authorized_ago(past, seconds=3700)
    for job in (fresh, past, proved):
        at.write(f"{file_of(job)}.ack")

    counts = collect()

    assert (counts.sought, counts.appended, counts.completed) == (1, 1, 0)
    assert [len(acknowledgments_of(job)) for job in (fresh, past, proved)] == [1, 0, 0]
    assert status_of(fresh) == Status.COMPLETED
    assert collect().sought == 0


def test_a_refusal_of_a_completed_delivery_is_kept_and_changes_nothing(at: At) -> None:
    job = completed(at.place())
    at.write(f"{file_of(job)}.nak", b"cannot be read")

    assert collect().appended == 1
    assert status_of(job) == Status.COMPLETED


@pytest.mark.parametrize("kind", [LEFT, MOVED])
def test_what_is_no_regular_file_acknowledges_nothing(at: At, kind: object) -> None:
    place = at.place(kind)  # type: ignore[arg-type]
    link, directory = unknown(place), unknown(place)
    (at.account.directory / f"{file_of(link)}.ack").symlink_to("/etc/hostname")
    (at.account.directory / f"{file_of(directory)}.ack").mkdir()

    assert collect().appended == 0
