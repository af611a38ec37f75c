"""Partners that hang, hang up, lie or flood; and the pace and order in which all of them are visited."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.contracts import Acknowledgment, Limits, Verification
from exports.models import Destination
from exports.states import Status
from reconciliation.acknowledgments import awaited, collecting, visits
from reconciliation.acknowledgments.collecting import Collector
from tests.acknowledgments.waiting import (
    LEFT,
    acknowledgments_of,
    collect,
    completed,
    file_of,
    status_of,
    unknown,
)
from tests.recovery import lives
from tests.recovery.lives import ALIASES
from tests.recovery.partners import SilentPartner
from tests.recovery.sessions import Background, session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.acknowledgments.waiting import At
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

VERIFIED = Verification(acknowledgment=Acknowledgment(kind=LEFT, suffix=".ack", completes_automatically=True))


@pytest.fixture
def silent() -> Iterator[SilentPartner]:
    with SilentPartner() as partner:
        yield partner


@pytest.fixture
def hanging(silent: SilentPartner, key: str, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Give a destination at a partner that never greets, for far longer than any run waits."""
    monkeypatch.setattr(collecting, "PATIENCE_SECONDS", 1.0)
    limits = Limits(connect_timeout_seconds=300)
    return lives.a_place(sealed_under=key, port=silent.port, limits=limits, verification=VERIFIED)


def test_a_partner_that_hangs_delays_no_other_and_is_not_waited_for_again(
    at: At, hanging: Place, silent: SilentPartner
) -> None:
    stuck, job = unknown(hanging), unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    collector = Collector("acknowledger")

    began = time.monotonic()
    counts = collect(collector)

    assert (counts.completed, counts.away) == (1, 1)
    assert time.monotonic() - began < 8
    collector.memory._visited_at.clear()
    began = time.monotonic()
    assert collect(collector).away == 1
    assert time.monotonic() - began < 1
    assert len(silent.connections) == 1
    assert status_of(stuck) == Status.OUTCOME_UNKNOWN


def test_what_a_visit_brings_home_late_is_kept_by_the_next_run(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PATIENCE_SECONDS", 0.0)
    job = unknown(at.place())
    at.write(f"{file_of(job)}.ack")
    collector = Collector("acknowledger")
    assert (collect(collector).appended, status_of(job)) == (0, Status.OUTCOME_UNKNOWN)

    with collector.visits._changed:
        assert collector.visits._changed.wait_for(lambda: collector.visits._home, 10)
    counts = collect(collector)

    assert (counts.places, counts.appended, counts.completed) == (0, 1, 1)


def test_no_session_waits_in_a_transaction_while_a_partner_is_looked_at(hanging: Place, silent: SilentPartner) -> None:
    unknown(hanging)
    collecting_it = Background(collect)
    assert silent.called.wait(10)
    with session("default") as owner:
        waiting = owner.execute(
            "SELECT state FROM pg_stat_activity WHERE usename = 'exports_acknowledger' AND xact_start IS NOT NULL"
        ).fetchall()
    assert waiting == []
    assert collecting_it.result().away == 1


def test_a_partner_that_hangs_up_is_asked_again_at_its_next_turn(key: str) -> None:
    with SilentPartner(hangs_up=True) as partner:
        job = unknown(lives.a_place(sealed_under=key, port=partner.port, verification=VERIFIED))
        counts = [collect() for _ in range(2)]
    assert [(each.unanswered, each.away) for each in counts] == [(1, 0)] * 2
    assert status_of(job) == Status.OUTCOME_UNKNOWN


def test_a_credential_that_cannot_be_opened_is_no_answer_and_no_failure(at: At, settings: Any) -> None:

    unknown(at.place())
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=())
    assert collect().unanswered == 2


def test_a_destination_is_visited_at_its_own_pace(at: At) -> None:
    job = unknown(at.place(poll_seconds=600))
    collector = Collector("acknowledger")
    collect(collector)
    at.write(f"{file_of(job)}.ack")

    assert collect(collector).sought == 0
    for destination_id in collector.memory._visited_at:
        collector.memory._visited_at[destination_id] -= 601
    assert collect(collector).completed == 1


def test_the_longest_unvisited_destination_comes_first(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "MOST_AT_ONCE", 1)
    places = [at.place(poll_seconds=10) for _ in range(3)]
    collector = Collector("acknowledger")
    for place in places:
        unknown(place)
    assert collect(collector).places == 3
    now = time.monotonic()
    ages = dict(zip((place.destination.id for place in places), (20, 40, 30), strict=True))
    collector.memory._visited_at = {each: now - age for each, age in ages.items()}
    due = collector.memory.due(collector.contracts.places("acknowledger"))
    assert [ages[place.destination_id] for place in due] == [40, 30, 20]


def test_a_disabled_destination_is_left_alone(at: At) -> None:
    place = at.place()
    job = unknown(place)
    at.write(f"{file_of(job)}.ack")
    Destination.objects.filter(id=place.destination.id).update(is_enabled=False)

    assert collect().places == 0
    Destination.objects.filter(id=place.destination.id).update(is_enabled=True)
    assert collect().completed == 1


def test_a_long_list_is_gone_through_a_bounded_part_a_visit(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaited, "MOST_A_VISIT", 2)
    monkeypatch.setattr(awaited, "PAGE", 2)
    place = at.place(poll_seconds=10)
    jobs = [unknown(place) for _ in range(3)] + [completed(place) for _ in range(3)]
    for job in jobs:
        at.write(f"{file_of(job)}.ack")
    collector = Collector("acknowledger")

    sought = []
    for _ in range(3):
        collector.memory._visited_at.clear()
        sought.append(collect(collector).sought)

    assert sought == [4, 2, 0]
    assert [len(acknowledgments_of(job)) for job in jobs] == [1] * 6


def test_what_a_partner_writes_is_bounded_and_its_tricks_are_shown(at: At) -> None:
    place = at.place(completes_automatically=False)
    tricky, huge = unknown(place), unknown(place)
    at.write(f"{file_of(tricky)}.ack", b"\x1b[2Jok\x00\xff\xe2\x80\xae" + b"x" * 16_000)
    at.write(f"{file_of(huge)}.ack", b"y" * 2_000_000)

    assert collect().appended == 2
    [record] = acknowledgments_of(tricky)
    assert record.text.startswith("␛[2Jok␀�<U+202E>xxx")
    assert len(record.text) <= 500
    assert acknowledgments_of(huge)[0].text == "a file of 2000000 bytes, not read"
