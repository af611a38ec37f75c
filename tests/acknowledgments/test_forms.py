"""Which names acknowledge, what an acknowledgment says, and what that ties it to: without a partner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.contracts import Acknowledgment, AcknowledgmentKind, Companion, Contract, Endpoint, Paths, Verification
from exports.dossier import Family
from exports.evidence import Bound, ExpectedFile
from exports.verdicts import JobRole
from reconciliation.acknowledgments.forms import Form, Sign, forms_of
from reconciliation.acknowledgments.said import NOTHING, Said, said_in, tie
from tests.acknowledgments.waiting import LEFT, MOVED, TAKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "contacts-key.csv"
OURS = ExpectedFile(NAME, 10, "a" * 64)
THEIRS = ExpectedFile(NAME, 20, "b" * 64)
ANOTHERS = ExpectedFile(NAME, 30, "c" * 64)
ALONE = Family(JobRole.ORIGINAL)


def forms(kind: AcknowledgmentKind, companions: Sequence[str] = (), **told: Any) -> list[str]:
    contract = Contract(
        endpoint=Endpoint(host="partner.example"),
        paths=Paths(directory="/in"),
        companions=tuple(map(Companion, companions)),
        verification=Verification(acknowledgment=Acknowledgment(kind=kind, **told)),
    )
    return [form.name for form in forms_of(contract, NAME)]


def test_without_a_kind_nothing_is_sought() -> None:
    assert forms(AcknowledgmentKind.NONE, suffix=".ack") == []


def test_prefix_and_suffix_frame_the_final_name_and_the_refusal_has_its_own_suffix() -> None:
    told = {"prefix": "ACK_", "suffix": ".ok", "negative_suffix": "_rejected"}
    assert forms(LEFT, **told) == [f"ACK_{NAME}.ok", f"ACK_{NAME}_rejected"]
    assert forms(LEFT, prefix="ACK_") == [f"ACK_{NAME}"]


@pytest.mark.parametrize("kind", [LEFT, MOVED])
def test_a_name_that_we_write_ourselves_is_no_acknowledgment_beside_the_file(kind: AcknowledgmentKind) -> None:
    assert forms(kind, [".sha256"], suffix=".sha256", negative_suffix=".bad") == [f"{NAME}.bad"]
    assert forms(kind, [".sha256"], suffix=".sha256", directory="/in/") == []
    assert forms(kind, [".sha256"], suffix=".sha256", directory="/out") == [f"{NAME}.sha256"]
    assert forms(kind) == []
    assert forms(kind, directory="/out") == [NAME]


def test_only_what_we_write_ourselves_can_be_taken_away() -> None:
    assert forms(TAKEN, [".ready"], suffix=".ready") == [f"{NAME}.ready"]
    assert forms(TAKEN) == [NAME]
    assert forms(TAKEN, [".ready"], suffix=".done") == []
    assert forms(TAKEN, [".ready"], suffix=".ready", directory="/out", negative_suffix=".bad") == [f"{NAME}.bad"]


def test_a_yes_that_looks_like_the_no_is_neither() -> None:
    assert forms(LEFT, suffix=".ack", negative_suffix=".ack") == []


def test_a_name_that_is_longer_than_any_file_system_takes_is_not_asked_for() -> None:
    contract = Contract(
        endpoint=Endpoint(host="partner.example"),
        paths=Paths(directory="/in"),
        verification=Verification(acknowledgment=Acknowledgment(kind=LEFT, suffix=".ack")),
    )
    assert forms_of(contract, "c" * 252) == ()
    assert forms_of(contract, "c" * 251) == (Form("c" * 251 + ".ack", Sign.LEFT),)


@pytest.mark.parametrize(
    ("content", "hashes", "sizes"),
    [
        (b"", set(), set()),
        (b"OK 2 rows", set(), set()),
        (b"A" * 64 + b"  contacts-key.csv\n", {"a" * 64}, set()),
        (b"name=contacts-key.csv\nbytes=10\nsha256=" + b"b" * 64, {"b" * 64}, {10}),
        (b'{"size": 10, "file_size": 7}', set(), {10}),
        (b"a" * 65, set(), set()),
        (b"a" * 64 + b" " + b"b" * 64, {"a" * 64, "b" * 64}, set()),
    ],
)
def test_hashes_and_sizes_are_read_wherever_they_stand(content: bytes, hashes: set[str], sizes: set[int]) -> None:
    assert said_in(content) == Said(frozenset(hashes), frozenset(sizes))


def said(*hashes: str, sizes: Sequence[int] = ()) -> Said:
    return Said(frozenset(hashes), frozenset(sizes))


OF_OURS, OF_THEIRS, OF_NOBODY = said(OURS.sha256), said(THEIRS.sha256), said("f" * 64)
REPLACED = Family(JobRole.ORIGINAL, rivals=(THEIRS,))
REPLACEMENT = Family(JobRole.REPLACEMENT, original=THEIRS)
SECOND_REPLACEMENT = Family(JobRole.REPLACEMENT, original=THEIRS, rivals=(ANOTHERS,))


@pytest.mark.parametrize(
    ("what", "family", "bound"),
    [
        (NOTHING, ALONE, Bound.ATTEMPT),
        (OF_OURS, ALONE, Bound.ATTEMPT),
        (said(sizes=[10]), ALONE, Bound.ATTEMPT),
        (OF_NOBODY, ALONE, Bound.KEY),
        (said(sizes=[11]), ALONE, Bound.KEY),
        (said(OURS.sha256, "f" * 64), ALONE, Bound.ATTEMPT),
        (NOTHING, REPLACED, Bound.KEY),
        (OF_OURS, REPLACED, Bound.ATTEMPT),
        (said(OURS.sha256, THEIRS.sha256), REPLACED, Bound.KEY),
        (said(sizes=[10]), REPLACED, Bound.KEY),
        (OF_THEIRS, REPLACED, None),
        (OF_NOBODY, REPLACED, Bound.KEY),
        (NOTHING, REPLACEMENT, Bound.KEY),
        (OF_OURS, REPLACEMENT, Bound.ATTEMPT),
        (OF_THEIRS, REPLACEMENT, Bound.ORIGINAL),
        (said(ANOTHERS.sha256), SECOND_REPLACEMENT, None),
        (OF_THEIRS, SECOND_REPLACEMENT, Bound.ORIGINAL),
        (said(OURS.sha256, sizes=[99]), REPLACED, Bound.ATTEMPT),
    ],
)
def test_an_acknowledgment_is_tied_by_its_content_once_several_uploads_share_the_name(
    what: Said, family: Family, bound: Bound | None
) -> None:
    assert tie(what, OURS, family, size_identifies=False) is bound


def test_a_size_identifies_only_where_the_contract_says_so_and_nobody_else_has_it() -> None:
    ten = said(sizes=[10])
    assert tie(ten, OURS, REPLACED, size_identifies=True) is Bound.ATTEMPT
    as_long = Family(JobRole.ORIGINAL, rivals=(replace(THEIRS, size=10),))
    assert tie(ten, OURS, as_long, size_identifies=True) is Bound.KEY


def test_a_rebuilt_file_with_the_same_bytes_cannot_be_told_from_the_original() -> None:
    same = Family(JobRole.REPLACEMENT, original=OURS)
    assert tie(OF_OURS, OURS, same, size_identifies=True) is Bound.KEY


_FILES = st.builds(ExpectedFile, st.just(NAME), st.integers(1, 3), st.sampled_from(["a" * 64, "b" * 64, "c" * 64]))
_SAID = st.builds(
    Said,
    st.frozensets(st.sampled_from(["a" * 64, "b" * 64, "f" * 64]), max_size=2),
    st.frozensets(st.integers(1, 4), max_size=2),
)


@given(what=_SAID, ours=_FILES, rivals=st.lists(_FILES, max_size=2), original=st.none() | _FILES, by_size=st.booleans())
def test_it_is_never_tied_to_an_attempt_whose_file_it_does_not_fit_or_shares_with_another(
    *, what: Said, ours: ExpectedFile, rivals: list[ExpectedFile], original: ExpectedFile | None, by_size: bool
) -> None:
    role = JobRole.ORIGINAL if original is None else JobRole.REPLACEMENT
    family = Family(role, original=original, rivals=tuple(rivals))
    if tie(what, ours, family, size_identifies=by_size) is not Bound.ATTEMPT:
        return
    assert not what.hashes or ours.sha256 in what.hashes
    assert what.hashes or not what.sizes or ours.size in what.sizes
    others = [*rivals, *([original] if original else [])]
    if others:
        assert what.hashes or (what.sizes and by_size)
        assert all(other.sha256 not in what.hashes for other in others)
