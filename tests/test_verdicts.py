"""Verdicts: one row for every cell of the product, every row reached from real evidence, known cases."""

import itertools
from dataclasses import fields
from typing import Any

import pytest

from exports.evidence import (
    Absent,
    Acknowledged,
    Baseline,
    Bound,
    Conclusion,
    Forbidden,
    NoReply,
    NotSent,
    NotSentReason,
    Phase,
    Present,
    ProbeSighting,
    Proof,
    PublishAnswered,
    ReadBack,
    Refused,
    Trouble,
    UploadFailed,
)
from exports.verdicts import (
    ROWS,
    Aftermath,
    Asker,
    Before,
    Facts,
    JobRole,
    PartnerWord,
    Publishing,
    Start,
    facts_of,
    judge,
    row_for,
    start_of,
    verdict_on,
)
from tests.verdict_stories import (
    ACCEPTED,
    BLIND,
    CLEAR,
    COMPLETED,
    DENIAL,
    DIRECT,
    GAVE_UP,
    IDENTIFIED_CLAIM,
    LOST,
    NAME_OCCUPIED,
    NEVER_TOLD,
    NOT_DELIVERED,
    OCCUPIED,
    ORIGINAL_DELIVERED,
    OURS,
    OVERWRITE,
    RECEIPT,
    REFUSED,
    REPLACEMENT,
    REPLY_IS_PROOF,
    REVOCATION,
    SAME_SIZE_ORIGINAL,
    SENT,
    STORIES,
    THEIRS,
    UNKNOWN,
    WITH_ACKNOWLEDGMENTS,
    Told,
    told,
)


def test_every_cell_of_the_whole_product_lies_in_exactly_one_row() -> None:
    boxes = {each.name: masks(each.name) for each in fields(Facts)}
    flags = [boxes[name] for name in ("announced", "reply_is_proof", "consumes_at_once", "one_step")]
    count = 0
    for role, before in itertools.product(JobRole, Before):
        start = boxes["start"][start_of(role, before)]
        for publishing, aftermath, word in itertools.product(Publishing, Aftermath, PartnerWord):
            rows = start & boxes["publishing"][publishing]
            rows &= boxes["aftermath"][aftermath] & boxes["word"][word]
            for first, second, third, fourth in itertools.product(*(each.values() for each in flags)):
                covering = rows & first & second & third & fourth
                assert covering.bit_count() == 1, (role, before, publishing, aftermath, word)
                count += 1
    print(f"{count:,} cells, {len(ROWS)} rows, exactly one row for each cell")  # noqa: T201 - the result
    assert count == len(JobRole) * len(Before) * len(Publishing) * len(Aftermath) * len(PartnerWord) * 2**4


def masks(name: str) -> dict[Any, int]:
    """Return for each value of a fact which rows cover it, as bits."""
    values: Any = {
        "start": Start,
        "publishing": Publishing,
        "aftermath": Aftermath,
        "word": PartnerWord,
    }.get(name, (False, True))
    return {value: sum(1 << at for at, row in enumerate(ROWS) if value in getattr(row, name)) for value in values}


def test_the_row_found_for_a_cell_is_the_one_that_covers_it() -> None:
    for start, publishing, aftermath, word in itertools.product(Start, Publishing, Aftermath, PartnerWord):
        facts = Facts(
            start,
            publishing,
            aftermath,
            word,
            announced=True,
            reply_is_proof=False,
            consumes_at_once=False,
            one_step=True,
        )
        assert [row for row in ROWS if row.covers(facts)] == [row_for(facts)]


def test_rows_have_names_of_their_own_and_completed_always_has_a_proof() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert (row.proof is Proof.NONE) == (row.conclusion is Conclusion.OUTCOME_UNKNOWN)


def test_no_cell_where_nothing_was_sent_is_completed_and_no_absent_file_alone_is_a_failure() -> None:
    alone = {Publishing.UNRECORDED, Publishing.UNANSWERED, Publishing.ACCEPTED, Publishing.ERRED}
    for row in ROWS:
        if row.conclusion is Conclusion.COMPLETED:
            assert Publishing.NEVER_SENT not in row.publishing
        if row.conclusion is Conclusion.NOT_DELIVERED and row.publishing & alone:
            assert row.word == {PartnerWord.DENIED_FOR_GOOD}


@pytest.mark.parametrize("row", STORIES)
def test_each_row_is_reached_from_the_evidence_it_is_for(row: str) -> None:
    assert verdict_on(facts_of(STORIES[row].case())).row == row


def test_every_row_has_its_story() -> None:
    assert set(STORIES) | NEVER_TOLD == {row.name for row in ROWS}


@pytest.mark.parametrize(
    ("title", "asker", "story", "wanted"),
    [
        ("lost reply", Asker.WORKER, told(CLEAR, SENT, LOST), UNKNOWN),
        (
            "lost reply, hash seen by the worker itself",
            Asker.WORKER,
            told(CLEAR, SENT, LOST, ReadBack(Present(100, OURS))),
            UNKNOWN,
        ),
        (
            "error reply, hash seen later",
            Asker.RECOVERY,
            told(CLEAR, SENT, REFUSED, ProbeSighting(Present(100, OURS))),
            COMPLETED,
        ),
        (
            "crash before the terminal write",
            Asker.RECOVERY,
            told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100))),
            COMPLETED,
        ),
        ("crash before the upload", Asker.RECOVERY, told(CLEAR), UNKNOWN),
        ("crash before the upload, file absent", Asker.RECOVERY, told(CLEAR, ProbeSighting(Absent())), UNKNOWN),
        ("upload failed, seen by recovery", Asker.RECOVERY, told(CLEAR, GAVE_UP), UNKNOWN),
        ("upload failed, seen by staff", Asker.RECONCILER, told(CLEAR, GAVE_UP), NOT_DELIVERED),
        (
            "a replacement that crashed before its baseline",
            Asker.RECOVERY,
            told(ProbeSighting(Present(90, THEIRS)), role=REPLACEMENT),
            UNKNOWN,
        ),
        (
            "a replacement whose size is the original's too, unanswered",
            Asker.RECOVERY,
            told(CLEAR, SENT, ProbeSighting(Present(100)), role=REPLACEMENT, original=SAME_SIZE_ORIGINAL),
            UNKNOWN,
        ),
        (
            "a replacement whose size is the original's too, accepted",
            Asker.WORKER,
            told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100)), role=REPLACEMENT, original=SAME_SIZE_ORIGINAL),
            COMPLETED,
        ),
        (
            "a same-size file that nothing ties to the original",
            Asker.WORKER,
            told(Baseline(Present(90)), GAVE_UP, role=REPLACEMENT),
            NAME_OCCUPIED,
        ),
        (
            "a same-size file where the contract identifies by size",
            Asker.WORKER,
            told(
                Baseline(Present(90)),
                GAVE_UP,
                role=REPLACEMENT,
                groups={"verification": {"name_and_size_identifies": True}},
            ),
            ORIGINAL_DELIVERED,
        ),
        (
            "an acknowledged original, with an agreement to overwrite",
            Asker.WORKER,
            told(CLEAR, GAVE_UP, role=OVERWRITE, original_acknowledged=True),
            ORIGINAL_DELIVERED,
        ),
        (
            "an overwrite of the same size, by hash",
            Asker.WORKER,
            told(OCCUPIED, SENT, ACCEPTED, ReadBack(Present(100, OURS)), role=OVERWRITE),
            COMPLETED,
        ),
        (
            "an overwrite of a file of our own size, no hash offered",
            Asker.WORKER,
            told(Baseline(Present(100)), SENT, REFUSED, ReadBack(Present(100)), role=OVERWRITE),
            UNKNOWN,
        ),
        (
            "a file landed between look and publish",
            Asker.WORKER,
            told(CLEAR, SENT, REFUSED, ReadBack(Present(90)), role=REPLACEMENT),
            UNKNOWN,
        ),
        (
            "write-only box",
            Asker.WORKER,
            told(BLIND, SENT, ACCEPTED, ReadBack(Forbidden()), groups=REPLY_IS_PROOF),
            COMPLETED,
        ),
        ("write-only box without the clause", Asker.WORKER, told(BLIND, SENT, ACCEPTED), UNKNOWN),
        (
            "a server that tells no size",
            Asker.WORKER,
            told(CLEAR, SENT, ACCEPTED, ReadBack(Present(None))),
            UNKNOWN,
        ),
        ("direct write refused", Asker.WORKER, told(CLEAR, SENT, REFUSED, ReadBack(Absent()), groups=DIRECT), UNKNOWN),
        (
            "direct write accepted",
            Asker.WORKER,
            told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100)), groups=DIRECT),
            COMPLETED,
        ),
        ("denied, access still open", Asker.RECONCILER, told(CLEAR, SENT, LOST, DENIAL), UNKNOWN),
        ("access revoked, no word of the partner", Asker.RECONCILER, told(CLEAR, SENT, LOST, REVOCATION), UNKNOWN),
        ("denied and revoked", Asker.RECONCILER, told(CLEAR, SENT, LOST, DENIAL, REVOCATION), NOT_DELIVERED),
        ("denied and revoked, asked by recovery", Asker.RECOVERY, told(CLEAR, DENIAL, REVOCATION), UNKNOWN),
        ("a person's statement, asked by recovery", Asker.RECOVERY, told(CLEAR, SENT, IDENTIFIED_CLAIM), UNKNOWN),
        (
            "an acknowledgment the contract does not know",
            Asker.RECONCILER,
            told(CLEAR, SENT, LOST, RECEIPT),
            UNKNOWN,
        ),
        (
            "an acknowledgment of the key alone",
            Asker.RECOVERY,
            told(CLEAR, SENT, LOST, Acknowledged(Bound.KEY), groups=WITH_ACKNOWLEDGMENTS),
            UNKNOWN,
        ),
        (
            "an acknowledgment, contract does not complete by itself",
            Asker.ACKNOWLEDGER,
            told(CLEAR, SENT, LOST, RECEIPT, groups=WITH_ACKNOWLEDGMENTS),
            UNKNOWN,
        ),
        (
            "a look from before the publish request",
            Asker.RECOVERY,
            told(CLEAR, ProbeSighting(Absent()), SENT, REFUSED),
            UNKNOWN,
        ),
        (
            "the announcement was not confirmed, so nothing was sent",
            Asker.WORKER,
            told(CLEAR, SENT, NotSent(NotSentReason.APPEND_NOT_CONFIRMED)),
            NOT_DELIVERED,
        ),
        (
            "an answer outweighs the word that nothing was sent",
            Asker.WORKER,
            told(CLEAR, SENT, LOST, GAVE_UP),
            UNKNOWN,
        ),
        ("no evidence at all", Asker.RECONCILER, told(), UNKNOWN),
    ],
)
def test_known_cases_end_as_the_rules_say(title: str, asker: Asker, story: Told, wanted: Conclusion) -> None:
    verdict = judge(story.case(), asker)
    assert verdict.conclusion is wanted, f"{title}: {verdict}"


def test_an_acknowledgment_completes_by_itself_only_where_the_contract_says_so() -> None:
    acknowledgment = {"kind": "file_appears", "suffix": ".ack", "completes_automatically": True}
    story = told(CLEAR, SENT, LOST, RECEIPT, groups={"verification": {"acknowledgment": acknowledgment}})
    assert judge(story.case(), Asker.ACKNOWLEDGER).conclusion is COMPLETED


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("trouble", Trouble)
def test_every_failure_before_the_publish_request_is_not_delivered(phase: Phase, trouble: Trouble) -> None:
    for code in (None, *range(32)):
        story = told(CLEAR, UploadFailed(phase, trouble, code))
        assert judge(story.case(), Asker.WORKER).conclusion is NOT_DELIVERED


@pytest.mark.parametrize("code", range(32))
def test_only_definite_refusals_of_a_one_step_request_are_not_delivered(code: int) -> None:
    refused = PublishAnswered(Refused(code))
    wanted = NOT_DELIVERED if code in {2, 3, 4, 8, 11} else UNKNOWN
    assert judge(told(CLEAR, SENT, refused, ReadBack(Absent())).case(), Asker.WORKER).conclusion is wanted
    direct = told(CLEAR, SENT, refused, ReadBack(Absent()), groups=DIRECT)
    assert judge(direct.case(), Asker.WORKER).conclusion is UNKNOWN


@pytest.mark.parametrize("trouble", Trouble)
def test_a_publish_request_without_an_answer_is_unknown_whatever_the_trouble(trouble: Trouble) -> None:
    story = told(CLEAR, SENT, PublishAnswered(NoReply(trouble)))
    assert judge(story.case(), Asker.WORKER).conclusion is UNKNOWN
