"""The part of the conformance suite that delivers as a worker does, from the first look to the last."""

import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

from exports.destinations.delivery import deliver
from exports.evidence import (
    Baseline,
    Conclusion,
    Proof,
    PublishAnswered,
    PublishSent,
    ReadBack,
)
from exports.verdicts import JobRole
from tests.destinations.partners import Export, History, Partner, deliver_to, make_export, order_for
from tests.destinations.watcher import watching

AGREED: dict[str, Any] = {"publish": {"overwrite": "posix_rename"}}


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return make_export(tmp_path)


def test_a_whole_delivery_is_completed_and_leaves_exactly_its_file(destination: Partner, export: Export) -> None:
    history = History()
    with watching(destination.root) as seen:
        delivered = deliver_to(destination, export, append=history.append)
    assert delivered.verdict.conclusion is Conclusion.COMPLETED
    assert delivered.verdict.proof is Proof.LISTING
    assert destination.names() == [export.expected.name]
    assert (destination.root / export.expected.name).read_bytes() == export.content
    assert [type(each) for each in history.records[:4]] == [Baseline, PublishSent, PublishAnswered, ReadBack]
    assert seen.written_in_place(export.expected.name) == []
    assert seen.appearances(export.expected.name) == 1


def test_a_second_delivery_under_the_same_name_finds_it_occupied_and_sends_nothing(
    destination: Partner, export: Export, tmp_path: Path
) -> None:
    deliver_to(destination, export)
    other = make_export(tmp_path, b"something else", export.expected.name)
    with watching(destination.root) as seen:
        delivered = deliver_to(destination, other)
    assert delivered.verdict.conclusion is Conclusion.FINAL_NAME_OCCUPIED
    assert seen.events == []
    assert (destination.root / export.expected.name).read_bytes() == export.content


def test_an_agreed_overwrite_without_hash_stays_unknown_and_with_it_is_completed(
    destination: Partner, tmp_path: Path
) -> None:
    if not destination.overwrites:
        pytest.skip("this destination has no atomic overwriting form")
    old = make_export(tmp_path, b"old bytes")
    deliver_to(destination, old)
    new = make_export(tmp_path, b"new bytes", old.expected.name)
    unproven = deliver_to(destination, new, JobRole.OVERWRITE, **AGREED)
    assert unproven.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN
    newest = make_export(tmp_path, b"3rd bytes", old.expected.name)
    reading: dict[str, Any] = {"permissions": {"may_read": True}, "verification": {"read_back": True}}
    proven = deliver_to(destination, newest, JobRole.OVERWRITE, **AGREED, **reading)
    assert proven.verdict.conclusion is Conclusion.COMPLETED
    assert proven.verdict.proof is Proof.HASH
    assert (destination.root / old.expected.name).read_bytes() == b"3rd bytes"


def test_an_export_with_side_car_and_marker_is_completed_with_both(destination: Partner, export: Export) -> None:
    companions = [{"suffix": ".sha256", "content": "sha256sum"}, {"suffix": ".fin"}]
    delivered = deliver_to(destination, export, companions=companions)
    assert delivered.verdict.conclusion is Conclusion.COMPLETED
    name = export.expected.name
    assert destination.names() == [name, f"{name}.fin", f"{name}.sha256"]
    side_car = (destination.root / f"{name}.sha256").read_text()
    assert side_car == f"{export.expected.sha256}  {name}\n"


def test_an_export_whose_marker_cannot_be_placed_is_not_completed(destination: Partner, export: Export) -> None:
    (destination.root / f"{export.expected.name}.fin").write_bytes(b"in the way")
    delivered = deliver_to(destination, export, companions=[{"suffix": ".fin"}])
    assert delivered.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN
    assert "go along with it" in delivered.verdict.reason


def test_two_whole_deliveries_of_one_name_at_once_never_both_complete(destination: Partner, tmp_path: Path) -> None:
    name = f"contacts-{uuid.uuid4()}.csv"
    exports = [make_export(tmp_path, bytes([side]) * 5_000, name) for side in (1, 2)]
    contract = destination.contract()
    sessions = [destination.open(contract), destination.open(contract)]
    ended: list[Conclusion] = []

    def run(side: int) -> None:
        done = deliver(sessions[side], order_for(exports[side], contract), History().append)
        ended.append(done.verdict.conclusion)
        sessions[side].close()

    threads = [threading.Thread(target=run, args=(side,)) for side in (0, 1)]
    with watching(destination.root) as seen:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert ended.count(Conclusion.COMPLETED) == 1
    assert len(ended) == 2
    assert seen.appearances(name) == 1
    assert seen.written_in_place(name) == []
    assert (destination.root / name).read_bytes() in [each.content for each in exports]
