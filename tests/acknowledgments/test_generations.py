"""Original and replacement share a name: only content tells whose acknowledgment it is (I8)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from exports.actions.create_replacement import Created
from exports.evidence import Bound
from exports.models import Destination, DestinationContract
from exports.states import Authorization, Status
from tests.acknowledgments.waiting import (
    HASH,
    MOVED,
    acknowledgments_of,
    collect,
    file_of,
    replaced,
    status_of,
    unknown,
)
from tests.recovery import lives
from tests.recovery.lives import ALIASES, CONTENT
from tests.settling import settled

if TYPE_CHECKING:
    from exports.contracts import Verification
    from tests.acknowledgments.waiting import At

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

REBUILT = CONTENT + b"2,b@example.org\n"
REBUILT_HASH = hashlib.sha256(REBUILT)


def test_an_acknowledgment_that_does_not_say_whose_it_is_settles_neither(at: At) -> None:
    place = at.place()
    original = unknown(place)
    again = replaced(original, place)
    at.write(f"{file_of(original)}.ack", b"ok")

    assert collect().appended == 2
    assert [record.bound for job in (original, again) for record in acknowledgments_of(job)] == [Bound.KEY] * 2
    assert [status_of(job) for job in (original, again)] == [Status.OUTCOME_UNKNOWN] * 2


def test_one_that_names_the_replacements_hash_settles_the_replacement_alone(at: At) -> None:
    place = at.place()
    original = unknown(place)
    again = replaced(original, place, REBUILT_HASH.digest(), len(REBUILT))
    at.write(f"{file_of(original)}.ack", f"sha256={REBUILT_HASH.hexdigest()}".encode())

    counts = collect()

    assert (counts.appended, counts.of_another, counts.completed) == (1, 1, 1)
    assert acknowledgments_of(original) == []
    assert [status_of(job) for job in (original, again)] == [Status.OUTCOME_UNKNOWN, Status.COMPLETED]


def test_one_for_the_older_generation_settles_the_original_and_tells_the_replacement(at: At) -> None:
    place = at.place()
    original = unknown(place)
    again = replaced(original, place, REBUILT_HASH.digest(), len(REBUILT))
    at.write(f"{file_of(original)}.ack", f"{HASH}  {file_of(original)}".encode())

    counts = collect()

    assert (counts.appended, counts.completed) == (2, 1)
    assert [record.bound for record in acknowledgments_of(original)] == [Bound.ATTEMPT]
    assert [record.bound for record in acknowledgments_of(again)] == [Bound.ORIGINAL]
    assert [status_of(job) for job in (original, again)] == [Status.COMPLETED, Status.OUTCOME_UNKNOWN]


def test_a_renamed_file_is_told_by_its_own_hash_where_the_contract_has_a_way_to_it(at: At) -> None:
    place = at.place(MOVED, contract={"verification": _hashed(at)})
    original = unknown(place)
    again = replaced(original, place, REBUILT_HASH.digest(), len(REBUILT))
    at.write(f"{file_of(original)}.ack", REBUILT)

    collect()
    assert [status_of(job) for job in (original, again)] == [Status.OUTCOME_UNKNOWN, Status.COMPLETED]


def _hashed(at: At) -> Verification:

    return replace(at.place(MOVED).contract.verification, read_back=True)


def test_one_that_came_before_the_replacement_was_authorized_stays_the_originals(at: At) -> None:
    place = at.place(completes_automatically=False)
    original = unknown(place)
    at.write(f"{file_of(original)}.ack", b"ok")
    collect()
    again = replaced(original, place)

    assert (collect().appended, collect().seen_before) == (1, 2)
    assert [record.bound for record in acknowledgments_of(original)] == [Bound.ATTEMPT]
    assert [record.bound for record in acknowledgments_of(again)] == [Bound.KEY]


def test_a_replacement_that_waits_while_the_rule_completes_its_original_is_refused_at_cutoff_2(at: At) -> None:
    place = at.place()
    original = unknown(place)
    created = settled.replacement(original)
    assert isinstance(created, Created)
    lives.claim(lives.now(created.job.id), place)
    at.write(f"{file_of(original)}.ack")

    assert collect().completed == 1
    assert lives.authorize(lives.now(created.job.id), place) is Authorization.ORIGINAL_COMPLETED


def test_a_delivery_is_judged_by_the_contract_it_was_claimed_under(at: At) -> None:
    place = at.place()
    before = unknown(place)
    after = unknown(_agreed_anew(place, completes_automatically=False))
    for job in (before, after):
        at.write(f"{file_of(job)}.ack")

    assert collect().appended == 2
    assert [status_of(job) for job in (before, after)] == [Status.COMPLETED, Status.OUTCOME_UNKNOWN]


def test_a_contract_that_no_longer_provides_for_acknowledgments_ends_none_that_are_due(at: At) -> None:
    place = at.place()
    before = unknown(place)
    after = unknown(_agreed_anew(place, kind="none", completes_automatically=False))
    for job in (before, after):
        at.write(f"{file_of(job)}.ack")

    assert collect().sought == 1
    assert [status_of(job) for job in (before, after)] == [Status.COMPLETED, Status.OUTCOME_UNKNOWN]


def _agreed_anew(place: lives.Place, **told: object) -> lives.Place:
    """Return the same destination under its next contract version, which is then the active one."""
    terms = place.contract.to_json()
    terms["verification"]["acknowledgment"] |= told
    row = DestinationContract.objects.create(
        destination=place.destination, version=2, terms=terms, reason="test", created_by="user:test"
    )
    Destination.objects.filter(id=place.destination.id).update(active_contract=row)
    return replace(place, contract_id=row.id)
