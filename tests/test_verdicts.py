"""Verdicts: one row for every cell, every row reached from real evidence, and no sequence that proves too much."""

import itertools
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exports.contracts import Contract
from exports.evidence import (
    Absent,
    Accepted,
    AccessRevoked,
    Acknowledged,
    Baseline,
    Bound,
    CompanionAnswered,
    Conclusion,
    Evidence,
    ExpectedFile,
    Forbidden,
    NoReply,
    NotSent,
    NotSentReason,
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
    Trouble,
    Unanswered,
    UploadFailed,
)
from exports.verdicts import (
    ROWS,
    Aftermath,
    Asker,
    Before,
    Case,
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

OURS = "ab" * 32
THEIRS = "cd" * 32
OURS_FILE = ExpectedFile("contacts-1.csv", 100, OURS)
ORIGINAL = ExpectedFile("contacts-1.csv", 90, THEIRS)
SAME_SIZE_ORIGINAL = ExpectedFile("contacts-1.csv", 100, THEIRS)
NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)

SENT = PublishSent(PublishForm.LINK, ".t", "contacts-1.csv")
ACCEPTED = PublishAnswered(Accepted())
REFUSED = PublishAnswered(Refused(4, "Failure"))
LOST = PublishAnswered(NoReply(Trouble.CONNECTION_LOST))
CLEAR = Baseline(Absent())
OCCUPIED = Baseline(Present(7, "ee" * 32))
BLIND = Baseline(Forbidden(3))
GAVE_UP = NotSent(NotSentReason.DRAINING)
RECEIPT = Acknowledged(Bound.ATTEMPT)
DENIAL = PartnerStatement(Says.NOT_PUBLISHED, "T-1", "user:ann", NOON)
REVOCATION = AccessRevoked("T-2", "user:ann", NOON)
CLAIM = PartnerStatement(Says.PUBLISHED, "T-3", "user:ann", NOON)
IDENTIFIED_CLAIM = PartnerStatement(Says.PUBLISHED, "T-3", "user:ann", NOON, 100, OURS)

WITH_ACKNOWLEDGMENTS = {"verification": {"acknowledgment": {"kind": "file_appears", "suffix": ".ack"}}}
REPLY_IS_PROOF = {"verification": {"publish_reply_is_proof": True}}
CONSUMES = {"consumes_at_once": True}
DIRECT = {"publish": {"mode": "direct_write", "probed": {"exclusive_create_refuses": True}}}
WITH_MARKER = {"companions": [{"suffix": ".fin"}]}
MARKER_SENT = CompanionAnswered("contacts-1.csv.fin", Accepted())


def contract(**groups: Any) -> Contract:
    """Return a contract with some groups of fields set; where it lies does not matter here."""
    raw = {"endpoint": {"kind": "directory"}, "paths": {"directory": "/mnt"}, **groups}
    return Contract.from_json(raw)


@dataclass(frozen=True)
class Told:
    """A case as its story: what happened in order, under which contract, to which job."""

    evidence: tuple[Evidence, ...]
    groups: dict[str, Any] = field(default_factory=dict)
    role: JobRole = JobRole.ORIGINAL
    original: ExpectedFile | None = None
    original_acknowledged: bool = False

    def case(self) -> Case:
        return Case(
            contract=contract(**self.groups),
            expected=OURS_FILE,
            evidence=self.evidence,
            role=self.role,
            original=self.original,
            original_acknowledged=self.original_acknowledged,
        )


def told(*evidence: Evidence, role: JobRole = JobRole.ORIGINAL, **more: Any) -> Told:
    """Tell a case; a replacement's original has another size and hash unless said otherwise."""
    original = None if role is JobRole.ORIGINAL else more.pop("original", ORIGINAL)
    return Told(evidence, more.pop("groups", {}), role, original, more.pop("original_acknowledged", False))


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


REPLACEMENT, OVERWRITE = JobRole.REPLACEMENT, JobRole.OVERWRITE

STORIES: dict[str, Told] = {
    "contradictory word": told(CLEAR, SENT, ACCEPTED, DENIAL, CLAIM),
    "rejected": told(CLEAR, SENT, ACCEPTED, Acknowledged(Bound.ATTEMPT, positive=False), groups=WITH_ACKNOWLEDGMENTS),
    "acknowledged": told(CLEAR, SENT, RECEIPT, groups=WITH_ACKNOWLEDGMENTS),
    "receipt of a file never sent": told(CLEAR, GAVE_UP, RECEIPT, groups=WITH_ACKNOWLEDGMENTS),
    "stated": told(CLEAR, SENT, LOST, IDENTIFIED_CLAIM),
    "stated, but another file": told(CLEAR, SENT, LOST, ProbeSighting(Present(5)), IDENTIFIED_CLAIM),
    "denied, but a file": told(CLEAR, SENT, LOST, ProbeSighting(Present(100)), DENIAL, REVOCATION),
    "denied, but accepted": told(CLEAR, SENT, ACCEPTED, DENIAL, REVOCATION, groups=REPLY_IS_PROOF),
    "denied for good, accepted": told(CLEAR, SENT, ACCEPTED, ReadBack(Absent()), DENIAL, REVOCATION),
    "denied for good": told(CLEAR, SENT, LOST, DENIAL, REVOCATION),
    "never sent, but our hash": told(CLEAR, GAVE_UP, ProbeSighting(Present(100, OURS))),
    "original found": told(Baseline(Present(90, THEIRS)), GAVE_UP, role=REPLACEMENT),
    "occupied": told(OCCUPIED, NotSent(NotSentReason.OCCUPIED)),
    "never sent": told(CLEAR, UploadFailed(Phase.WRITE, Trouble.STATUS, 4)),
    "accepted, hash": told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100, OURS))),
    "accepted, hash, not announced": told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100, OURS)), groups=WITH_MARKER),
    "accepted, listed": told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100)), MARKER_SENT, groups=WITH_MARKER),
    "accepted, listed, not announced": told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100)), groups=WITH_MARKER),
    "accepted, reply is proof": told(CLEAR, SENT, ACCEPTED, ReadBack(Absent()), groups=REPLY_IS_PROOF),
    "accepted, reply is proof, not announced": told(CLEAR, SENT, ACCEPTED, groups={**REPLY_IS_PROOF, **WITH_MARKER}),
    "accepted, not confirmed": told(CLEAR, SENT, ACCEPTED, ReadBack(Absent())),
    "accepted blind, reply is proof": told(BLIND, SENT, ACCEPTED, groups=REPLY_IS_PROOF),
    "accepted blind, reply is proof, not announced": told(
        BLIND, SENT, ACCEPTED, groups={**REPLY_IS_PROOF, **WITH_MARKER}
    ),
    "accepted blind": told(BLIND, SENT, ACCEPTED),
    "accepted, another file": told(CLEAR, SENT, ACCEPTED, ReadBack(Present(99))),
    "overwritten without hash": told(OCCUPIED, SENT, ACCEPTED, ReadBack(Present(100)), role=OVERWRITE),
    "published onto a taken name": told(OCCUPIED, SENT, ACCEPTED, ReadBack(Present(100))),
    "accepted, but denied": told(CLEAR, SENT, ACCEPTED, ReadBack(Present(100)), DENIAL),
    "hash without reply": told(CLEAR, SENT, LOST, ProbeSighting(Present(100, OURS))),
    "hash without reply, not announced": told(CLEAR, SENT, LOST, ProbeSighting(Present(100, OURS)), groups=WITH_MARKER),
    "hash, but whose": told(ProbeSighting(Present(100, OURS)), role=REPLACEMENT),
    "hash, but denied": told(CLEAR, SENT, LOST, ProbeSighting(Present(100, OURS)), DENIAL),
    "nothing recorded": told(CLEAR, ProbeSighting(Absent())),
    "error of unclear effect": told(CLEAR, SENT, PublishAnswered(Refused(14)), ReadBack(Absent())),
    "unanswered, listed": told(CLEAR, SENT, ProbeSighting(Present(100))),
    "unanswered, listed, not announced": told(CLEAR, SENT, ProbeSighting(Present(100)), groups=WITH_MARKER),
    "unanswered, perhaps partial": told(CLEAR, SENT, ProbeSighting(Present(100)), groups=DIRECT),
    "unanswered, size alone": told(BLIND, SENT, ProbeSighting(Present(100))),
    "unanswered, denied": told(CLEAR, SENT, ProbeSighting(Present(100)), DENIAL),
    "unanswered": told(CLEAR, SENT, LOST),
    "refused, still absent": told(CLEAR, SENT, REFUSED, ReadBack(Absent())),
    "refused, perhaps consumed": told(CLEAR, SENT, REFUSED, ReadBack(Absent()), groups=CONSUMES),
    "refused, file gone": told(OCCUPIED, SENT, REFUSED, ReadBack(Absent()), role=OVERWRITE),
    "refused, as before": told(OCCUPIED, SENT, REFUSED, ReadBack(Present(7, "ee" * 32)), role=OVERWRITE),
    "refused, unexpected file": told(OCCUPIED, SENT, REFUSED, ReadBack(Present(7))),
    "refused, but mentioned": told(CLEAR, SENT, REFUSED, ReadBack(Absent()), CLAIM),
    "refused, but a file": told(CLEAR, SENT, REFUSED, ReadBack(Present(100))),
}

NEVER_TOLD = {"accepted, as before"}
"""No evidence leads here: a file can only be as before where the baseline showed one. The cell has a row all
the same, because the table does not rest on how its facts were read."""


@pytest.mark.parametrize("row", STORIES)
def test_each_row_is_reached_from_the_evidence_it_is_for(row: str) -> None:
    assert verdict_on(facts_of(STORIES[row].case())).row == row


def test_every_row_has_its_story() -> None:
    assert set(STORIES) | NEVER_TOLD == {row.name for row in ROWS}


COMPLETED, UNKNOWN = Conclusion.COMPLETED, Conclusion.OUTCOME_UNKNOWN
NOT_DELIVERED, NAME_OCCUPIED = Conclusion.NOT_DELIVERED, Conclusion.FINAL_NAME_OCCUPIED
ORIGINAL_DELIVERED = Conclusion.ORIGINAL_DELIVERED


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


sizes = st.sampled_from([None, 7, 90, 100])
hashes = st.sampled_from([None, OURS, THEIRS, "ee" * 32])
sightings = st.one_of(
    st.builds(Absent),
    st.builds(Present, sizes, hashes, st.sampled_from([True, True, True, False])),
    st.builds(Forbidden, st.just(3)),
    st.builds(Unanswered, st.sampled_from(Trouble), st.just(None)),
)
answers = st.one_of(
    st.builds(Accepted),
    st.builds(Refused, st.sampled_from([2, 3, 4, 5, 8, 11, 14])),
    st.builds(NoReply, st.sampled_from(Trouble)),
)
steps: st.SearchStrategy[Evidence] = st.one_of(
    st.builds(Baseline, sightings),
    st.builds(UploadFailed, st.sampled_from(Phase), st.sampled_from(Trouble)),
    st.builds(NotSent, st.sampled_from(NotSentReason)),
    st.builds(PublishSent, st.sampled_from(PublishForm), st.just(".t"), st.just("contacts-1.csv")),
    st.builds(PublishAnswered, answers),
    st.builds(ReadBack, sightings),
    st.builds(ProbeSighting, sightings),
    st.builds(CompanionAnswered, st.just("contacts-1.csv.fin"), answers),
    st.builds(Acknowledged, st.sampled_from(Bound), st.booleans()),
    st.builds(PartnerStatement, st.sampled_from(Says), st.just("T"), st.just("user:ann"), st.just(NOON), sizes, hashes),
    st.just(REVOCATION),
)
group_choices = st.fixed_dictionaries(
    {},
    optional={
        "verification": st.fixed_dictionaries(
            {},
            optional={
                "publish_reply_is_proof": st.booleans(),
                "name_and_size_identifies": st.booleans(),
                "acknowledgment": st.just({"kind": "file_appears", "suffix": ".ack"}),
            },
        ),
        "consumes_at_once": st.booleans(),
        "companions": st.just([{"suffix": ".fin"}]),
        "publish": st.just(DIRECT["publish"]),
    },
)
stories = st.builds(
    Told,
    st.lists(steps, max_size=8).map(tuple),
    group_choices,
    st.sampled_from(JobRole),
    st.sampled_from([None, ORIGINAL, SAME_SIZE_ORIGINAL]),
    st.booleans(),
)


def of(story: Told, *kinds: type) -> list[Any]:
    """Return the story's evidence of some kinds."""
    return [each for each in story.evidence if isinstance(each, kinds)]


def is_accepted_proof(story: Told) -> bool:
    """Say in other words than the table's whether anything here may be called proof of a delivery."""
    terms = contract(**story.groups)
    acknowledges = terms.verification.acknowledgment.kind != "none"
    receipt = acknowledges and any(each.bound is Bound.ATTEMPT and each.positive for each in of(story, Acknowledged))
    by_size = terms.verification.name_and_size_identifies
    statement = any(
        each.says is Says.PUBLISHED and (each.sha256 == OURS or (by_size and each.size == 100))
        for each in of(story, PartnerStatement)
    )
    looks = [each.sighting for each in of(story, ReadBack, ProbeSighting) if isinstance(each.sighting, Present)]
    by_hash = any(each.sha256 == OURS for each in looks)
    was_absent = any(isinstance(each.sighting, Absent) for each in of(story, Baseline)[:1])
    sent = bool(of(story, PublishSent, PublishAnswered))
    listed = was_absent and sent and any(each.size == 100 or each.sha256 == OURS for each in looks)
    accepted = any(isinstance(each.answer, Accepted) for each in of(story, PublishAnswered))
    by_reply = accepted and terms.verification.publish_reply_is_proof
    return receipt or statement or by_hash or listed or by_reply


@settings(max_examples=400, deadline=None)
@given(stories, st.sampled_from(Asker))
def test_no_sequence_is_completed_without_evidence_the_contract_accepts(story: Told, asker: Asker) -> None:
    verdict = judge(story.case(), asker)
    if verdict.conclusion is COMPLETED:
        assert is_accepted_proof(story), verdict
        assert verdict.proof is not Proof.NONE


@settings(max_examples=400, deadline=None)
@given(stories, st.sampled_from(Asker))
def test_no_sequence_fails_from_an_absent_file_alone(story: Told, asker: Asker) -> None:
    verdict = judge(story.case(), asker)
    if verdict.conclusion is NOT_DELIVERED:
        ended = of(story, NotSent, UploadFailed)
        refused = [each for each in of(story, PublishAnswered) if isinstance(each.answer, Refused)]
        denied = [each for each in of(story, PartnerStatement) if each.says is Says.NOT_PUBLISHED]
        assert ended or refused or (denied and of(story, AccessRevoked)), verdict


@settings(max_examples=400, deadline=None)
@given(stories)
def test_each_asker_concludes_only_what_is_its_to_conclude(story: Told) -> None:
    case = story.case()
    assert judge(case, Asker.RECOVERY).conclusion in {COMPLETED, UNKNOWN}
    assert judge(case, Asker.ACKNOWLEDGER).conclusion is UNKNOWN  # none of these contracts completes by itself
    assert judge(case, Asker.RECONCILER).conclusion in {COMPLETED, NOT_DELIVERED, UNKNOWN}
    if judge(case, Asker.WORKER).conclusion is COMPLETED:
        assert any(isinstance(each.answer, Accepted) for each in of(story, PublishAnswered))


@settings(max_examples=400, deadline=None)
@given(stories, st.sampled_from(Asker))
def test_an_overwrite_is_completed_only_by_hash_acknowledgment_or_statement(story: Told, asker: Asker) -> None:
    verdict = judge(story.case(), asker)
    occupied = any(isinstance(each.sighting, Present) for each in of(story, Baseline)[:1])
    if occupied and verdict.conclusion is COMPLETED:
        assert verdict.proof in {Proof.HASH, Proof.ACKNOWLEDGMENT, Proof.STATEMENT}


@settings(max_examples=400, deadline=None)
@given(stories, st.lists(st.sampled_from([GAVE_UP, DENIAL, REVOCATION]), max_size=2), st.sampled_from(Asker))
def test_more_words_against_a_delivery_never_complete_it(story: Told, more: list[Evidence], asker: Asker) -> None:
    before = judge(story.case(), asker).conclusion
    longer = Told((*story.evidence, *more), story.groups, story.role, story.original, story.original_acknowledged)
    if judge(longer.case(), asker).conclusion is COMPLETED:
        assert before is COMPLETED
