"""Verdicts on any sequence of evidence at all: what no sequence may prove."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from exports.evidence import (
    Absent,
    Accepted,
    AccessRevoked,
    Acknowledged,
    Baseline,
    Bound,
    CompanionAnswered,
    Evidence,
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
    Asker,
    JobRole,
    judge,
)
from tests.verdict_stories import (
    COMPLETED,
    DENIAL,
    DIRECT,
    GAVE_UP,
    NOON,
    NOT_DELIVERED,
    ORIGINAL,
    OURS,
    REVOCATION,
    SAME_SIZE_ORIGINAL,
    THEIRS,
    UNKNOWN,
    Told,
    contract,
)

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
