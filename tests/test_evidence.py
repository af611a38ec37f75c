"""Evidence: what is stored comes back equal, what is garbled proves nothing, what strangers send is tamed."""

import json
import unicodedata
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.evidence import (
    Absent,
    Accepted,
    AccessRevoked,
    Acknowledged,
    Answer,
    Baseline,
    Bound,
    CompanionAnswered,
    Conclusion,
    Document,
    Evidence,
    ExpectedFile,
    Forbidden,
    NoReply,
    NotSent,
    NotSentReason,
    Outcome,
    PartnerStatement,
    Phase,
    Present,
    ProbeSighting,
    Proof,
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    Refused,
    Says,
    Sighting,
    TemporaryLeft,
    Trouble,
    Unanswered,
    Unreadable,
    UploadFailed,
    decode,
    encode,
    identifies,
    is_originals,
    shown,
)

SHA = "ab" * 32
OTHER_SHA = "cd" * 32
FILE = ExpectedFile("contacts-1.csv", 100, SHA)
NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)

texts = st.text(max_size=700)
codes = st.integers(0, 2**32 - 1)
maybe_codes = st.none() | codes
hashes = st.none() | st.just(SHA)
sizes = st.none() | st.integers(0, 2**63)
troubles = st.sampled_from(Trouble)
sightings: st.SearchStrategy[Sighting] = st.one_of(
    st.builds(Absent),
    st.builds(Present, sizes, hashes, st.booleans()),
    st.builds(Forbidden, maybe_codes, texts),
    st.builds(Unanswered, troubles, maybe_codes, texts),
)
answers: st.SearchStrategy[Answer] = st.one_of(
    st.builds(Accepted), st.builds(Refused, codes, texts), st.builds(NoReply, troubles, texts)
)
times = st.just(NOON)
records: st.SearchStrategy[Evidence] = st.one_of(
    st.builds(Baseline, sightings, texts, texts),
    st.builds(UploadFailed, st.sampled_from(Phase), troubles, maybe_codes, texts),
    st.builds(NotSent, st.sampled_from(NotSentReason), texts),
    st.builds(PublishSent, st.sampled_from(PublishForm), texts, texts),
    st.builds(PublishAnswered, answers),
    st.builds(ReadBack, sightings),
    st.builds(CompanionAnswered, texts, answers),
    st.builds(TemporaryLeft, texts, answers),
    st.builds(Outcome, st.sampled_from(Conclusion), st.sampled_from(Proof), texts),
    st.builds(ProbeSighting, sightings, texts),
    st.builds(Acknowledged, st.sampled_from(Bound), st.booleans(), texts, texts, texts),
    st.builds(PartnerStatement, st.sampled_from(Says), texts, texts, times, sizes, hashes, texts),
    st.builds(AccessRevoked, texts, texts, times, texts),
    st.builds(Document, texts, texts, times, texts),
    st.builds(Unreadable, texts, texts),
)


@given(records)
def test_every_record_comes_back_equal_from_what_was_stored(record: Evidence) -> None:
    assert decode(encode(record)) == record


@given(records)
def test_what_is_stored_is_one_line_of_bounded_text_without_control_characters(record: Evidence) -> None:
    stored = encode(record)
    assert len(stored) < 8_000
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in stored)


def test_every_kind_of_record_is_tried_here() -> None:
    tried = {type(record) for record in (decode(encode(each)) for each in _one_of_each())}
    assert tried == set(get_args(Evidence))


def _one_of_each() -> list[Evidence]:
    return [
        Baseline(Absent()),
        UploadFailed(Phase.WRITE, Trouble.STATUS, 4),
        NotSent(NotSentReason.DRAINING),
        PublishSent(PublishForm.LINK, "t", "f"),
        PublishAnswered(Accepted()),
        ReadBack(Absent()),
        CompanionAnswered("f.fin", Accepted()),
        TemporaryLeft("t", Refused(3)),
        Outcome(Conclusion.COMPLETED, Proof.LISTING),
        ProbeSighting(Absent()),
        Acknowledged(Bound.ATTEMPT),
        PartnerStatement(Says.PUBLISHED, "T-1", "user:ann", NOON),
        AccessRevoked("T-1", "user:ann", NOON),
        Document("T-1", "user:ann", NOON),
        Unreadable("test"),
    ]


@given(st.text() | st.none())
def test_any_text_is_a_record(detail: str | None) -> None:
    decode(detail)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@given(records, st.data())
def test_a_record_with_a_changed_field_is_a_record_or_unreadable(record: Evidence, data: st.DataObject) -> None:
    plain = json.loads(encode(record))
    name = data.draw(st.sampled_from(sorted(plain)))
    plain[name] = data.draw(json_values)
    decode(json.dumps(plain))


@pytest.mark.parametrize(
    "detail",
    [
        None,
        "",
        "Completed",
        "[]",
        "{}",
        '{"v":2,"kind":"baseline"}',
        '{"v":true,"kind":"baseline","sighting":{"kind":"absent"}}',
        '{"v":1,"kind":"no such kind"}',
        '{"v":1,"kind":"baseline"}',
        '{"v":1,"kind":"baseline","sighting":{"kind":"absent","x":1}}',
        '{"v":1,"kind":"publish_answered","answer":{"kind":"accepted"},"extra":1}',
        '{"v":1,"kind":"publish_answered","answer":"accepted"}',
        "[" * 60_000,
        "x" * 100_000,
    ],
)
def test_what_is_not_exactly_a_record_proves_nothing(detail: str | None) -> None:
    assert isinstance(decode(detail), Unreadable)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"plain", "plain"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ("a\nb\x00\x1b[31m", "a␊b␀␛[31m"),
        ("\x7f\x9b", "<U+007F><U+009B>"),
        ("evil\u202egpj.exe", "evil<U+202E>gpj.exe"),
        ("\ud800", "<U+D800>"),
        ("é漢🎉", "é漢🎉"),
    ],
)
def test_a_strangers_text_is_shown_with_its_tricks_visible(raw: bytes | str, expected: str) -> None:
    assert shown(raw) == expected


@given(st.binary(max_size=3_000) | texts)
def test_shown_text_is_bounded_and_showing_it_again_changes_nothing(raw: bytes | str) -> None:
    once = shown(raw)
    assert len(once) <= 500
    assert shown(once) == once


def test_a_text_cut_short_says_so() -> None:
    assert shown("x" * 501) == "x" * 499 + "…"


@pytest.mark.parametrize(
    ("seen", "by_contract", "proof"),
    [
        (Present(100, SHA), False, Proof.HASH),
        (Present(None, SHA.upper()), False, Proof.HASH),
        (Present(100, OTHER_SHA), True, None),
        (Present(100), True, Proof.NAME_AND_SIZE),
        (Present(100), False, None),
        (Present(99), True, None),
        (Present(None), True, None),
        (Present(100, SHA, regular=False), True, None),
        (Absent(), True, None),
        (Forbidden(), True, None),
        (Unanswered(Trouble.TIMEOUT), True, None),
    ],
)
def test_a_file_is_identified_by_hash_or_by_name_and_size_where_the_contract_says_so(
    seen: Sighting,
    by_contract: bool,  # noqa: FBT001 - a column of the table above
    proof: Proof | None,
) -> None:
    assert identifies(seen, FILE, name_and_size_identifies=by_contract) is proof


def test_an_acknowledged_original_is_delivered_even_when_the_file_is_gone() -> None:
    proof = is_originals(Absent(), FILE, name_and_size_identifies=False, original_acknowledged=True)
    assert proof is Proof.ACKNOWLEDGMENT


def test_an_original_that_never_had_an_expected_file_is_identified_by_nothing_seen() -> None:
    seen = Present(100, SHA)
    assert is_originals(seen, None, name_and_size_identifies=True, original_acknowledged=False) is None
