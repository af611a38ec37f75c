"""From a case, its contract and its evidence in the order it was recorded, to the facts the table sees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from exports.contracts import AcknowledgmentKind, Contract
from exports.evidence import (
    Absent,
    Accepted,
    AccessRevoked,
    Acknowledged,
    Baseline,
    Bound,
    CompanionAnswered,
    Evidence,
    ExpectedFile,
    Forbidden,
    NoReply,
    NotSent,
    PartnerStatement,
    Present,
    ProbeSighting,
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    Refused,
    Says,
    Sighting,
    Unanswered,
    UploadFailed,
    identifies,
    is_originals,
)
from exports.verdicts.facts import (
    Aftermath,
    Before,
    Facts,
    JobRole,
    PartnerWord,
    Publishing,
    start_of,
)

DEFINITE_REFUSALS: Final = frozenset({2, 3, 4, 8, 11})
"""SFTP statuses that say a one-step request was not carried out: no such file, permission denied, failure,
unsupported, exists. Any other (a full disk in a server that copies, a lost connection) may come half-way."""


@dataclass(frozen=True)
class Case:
    """Everything a verdict on one attempt may rest on.

    `evidence` is this attempt's, oldest first. `original` is the replaced job's file of its cutoff 2, when it
    had one; `rivals` are those of any other job authorized under the same final name (for an original: of its
    replacements). `original_acknowledged`: the partner acknowledged the original's own delivery.
    """

    contract: Contract
    expected: ExpectedFile
    evidence: Sequence[Evidence]
    role: JobRole = JobRole.ORIGINAL
    original: ExpectedFile | None = None
    original_acknowledged: bool = False
    rivals: tuple[ExpectedFile, ...] = ()

    @property
    def others(self) -> tuple[ExpectedFile, ...]:
        """Files other than ours that may come to stand under the final name."""
        return self.rivals if self.original is None else (*self.rivals, self.original)


def facts_of(case: Case) -> Facts:
    """Reduce a case to the cell of the table it lies in. Total over any evidence, in any order."""
    return Facts(
        start=start_of(case.role, before_of(case)),
        publishing=publishing_of(case),
        aftermath=aftermath_of(case),
        word=word_of(case),
        announced=_announced(case),
        reply_is_proof=case.contract.verification.publish_reply_is_proof,
        consumes_at_once=case.contract.consumes_at_once,
        one_step=case.contract.publishes_in_one_step,
    )


def _announced(case: Case) -> bool:
    accepted = {
        each.name for each in case.evidence if isinstance(each, CompanionAnswered) and isinstance(each.answer, Accepted)
    }
    return {case.expected.name + each.suffix for each in case.contract.companions} <= accepted


def before_of(case: Case) -> Before:
    """Read the baseline: the first one recorded, since nothing later can be from before the first byte."""
    recorded = next((each.sighting for each in case.evidence if isinstance(each, Baseline)), None)
    if recorded is None:
        return Before.UNRECORDED
    if case.role is not JobRole.ORIGINAL and _is_originals(case, recorded):
        return Before.ORIGINALS
    match recorded:
        case Absent():
            return Before.ABSENT
        case Present():
            return Before.OTHER
        case Forbidden():
            return Before.FORBIDDEN
        case Unanswered():
            return Before.UNANSWERED
    assert_never(recorded)


def _is_originals(case: Case, seen: Sighting) -> bool:
    bound = any(
        each.bound is Bound.ORIGINAL and each.positive
        for each in case.evidence
        if isinstance(each, Acknowledged) and _accepts_acknowledgments(case.contract)
    )
    proof = is_originals(
        seen,
        case.original,
        name_and_size_identifies=case.contract.verification.name_and_size_identifies,
        original_acknowledged=case.original_acknowledged or bound,
    )
    return proof is not None


def publishing_of(case: Case) -> Publishing:
    """Read what became of the publish request; an answer outweighs the attempt's own word that it sent none."""
    answers = [each.answer for each in case.evidence if isinstance(each, PublishAnswered)]
    if any(isinstance(answer, Accepted) for answer in answers):
        return Publishing.ACCEPTED
    if answers:
        return _unaccepted(case, answers[-1])
    if any(isinstance(each, UploadFailed | NotSent) for each in case.evidence):
        return Publishing.NEVER_SENT
    sent = any(isinstance(each, PublishSent) for each in case.evidence)
    return Publishing.UNANSWERED if sent else Publishing.UNRECORDED


def _unaccepted(case: Case, answer: Accepted | Refused | NoReply) -> Publishing:
    if not isinstance(answer, Refused):
        return Publishing.UNANSWERED
    forms = {each.form for each in case.evidence if isinstance(each, PublishSent)}
    one_step = case.contract.publishes_in_one_step and PublishForm.DIRECT_WRITE not in forms
    return Publishing.REFUSED if one_step and answer.code in DEFINITE_REFUSALS else Publishing.ERRED


def aftermath_of(case: Case) -> Aftermath:
    """Read the looks after the publish request: the strongest finding, else the freshest that answered."""
    seen = [_finding(case, each) for each in _looks_afterwards(case.evidence)]
    findings = [each for each in seen if each is not Aftermath.UNSEEN]
    for strongest in _BY_STRENGTH:
        if strongest in findings:
            return strongest
    return findings[-1] if findings else Aftermath.UNSEEN


_BY_STRENGTH: Final = (
    Aftermath.HASH_MATCH,
    Aftermath.MISMATCH,
    Aftermath.SIZE_MATCH,
    Aftermath.INDISTINCT,
)
"""A match seen once stays proof when the partner has since taken the file; a wrong file is never forgotten for
one that merely has our size."""


def _looks_afterwards(evidence: Sequence[Evidence]) -> Iterable[Sighting]:
    """Return the looks that can show an effect: all after the publish request, or all when none is recorded."""
    sent = next((at for at, each in enumerate(evidence) if isinstance(each, PublishSent)), -1)
    return [each.sighting for each in evidence[sent + 1 :] if isinstance(each, ReadBack | ProbeSighting)]


def _finding(case: Case, seen: Sighting) -> Aftermath:
    match seen:
        case Absent():
            return Aftermath.ABSENT
        case Forbidden():
            return Aftermath.UNTOLD
        case Unanswered():
            return Aftermath.UNSEEN
        case Present():
            return _present(case, seen)
    assert_never(seen)


def _present(case: Case, seen: Present) -> Aftermath:
    if not seen.regular:
        return Aftermath.MISMATCH
    if seen.size is None and seen.sha256 is None:
        return Aftermath.UNTOLD
    fits = _fits(seen, case.expected)
    if any(_same(seen, each.sighting) for each in case.evidence if isinstance(each, Baseline)):
        return Aftermath.INDISTINCT if fits else Aftermath.AS_BEFORE
    if not fits:
        return Aftermath.MISMATCH
    if any(_fits(seen, other) for other in case.others):
        return Aftermath.INDISTINCT
    return Aftermath.SIZE_MATCH if seen.sha256 is None else Aftermath.HASH_MATCH


def _fits(seen: Present, expected: ExpectedFile) -> bool:
    """Whether what is known of the file agrees with the expected one; an unknown part disagrees with nothing."""
    size = seen.size is None or seen.size == expected.size
    return size and (seen.sha256 is None or seen.sha256.lower() == expected.sha256.lower())


def _same(seen: Present, before: Sighting) -> bool:
    """Whether nothing that is known distinguishes the file from the baseline's."""
    if not isinstance(before, Present) or seen.size != before.size or not before.regular:
        return False
    return seen.sha256 is None or before.sha256 is None or seen.sha256.lower() == before.sha256.lower()


@dataclass(frozen=True)
class _Words:
    """Which kinds of things the partner has said; each once is enough."""

    acknowledged: bool
    rejected: bool
    stated: bool
    mentioned: bool
    denied: bool
    revoked: bool


def word_of(case: Case) -> PartnerWord:
    """Read what the partner itself has said, and whether it contradicts itself."""
    said = _words(case)
    received = said.acknowledged or said.stated or said.mentioned
    if (said.rejected and said.acknowledged) or (said.denied and (received or said.rejected)):
        return PartnerWord.CONTRADICTORY
    for holds, word in (
        (said.rejected, PartnerWord.REJECTED),
        (said.acknowledged, PartnerWord.ACKNOWLEDGED),
        (said.stated, PartnerWord.STATED),
        (said.mentioned, PartnerWord.MENTIONED),
        (said.denied and said.revoked, PartnerWord.DENIED_FOR_GOOD),
        (said.denied, PartnerWord.DENIED),
    ):
        if holds:
            return word
    return PartnerWord.SILENT


def _words(case: Case) -> _Words:
    acknowledgments = [each for each in case.evidence if isinstance(each, Acknowledged)]
    accepted = _accepts_acknowledgments(case.contract)
    ours = [each for each in acknowledgments if accepted and each.bound is Bound.ATTEMPT]
    loose = [each for each in acknowledgments if each not in ours and each.bound is not Bound.ORIGINAL]
    claims = [each for each in case.evidence if isinstance(each, PartnerStatement) and each.says is Says.PUBLISHED]
    identified = [each for each in claims if _states_ours(case, each)]
    return _Words(
        acknowledged=any(each.positive for each in ours),
        rejected=any(not each.positive for each in ours),
        stated=bool(identified),
        mentioned=bool(loose) or len(identified) < len(claims),
        denied=any(isinstance(each, PartnerStatement) and each.says is Says.NOT_PUBLISHED for each in case.evidence),
        revoked=any(isinstance(each, AccessRevoked) for each in case.evidence),
    )


def _states_ours(case: Case, statement: PartnerStatement) -> bool:
    """Whether the statement describes our file, and no other job's, well enough for this contract."""
    described = Present(statement.size, statement.sha256)
    ours = identifies(
        described,
        case.expected,
        name_and_size_identifies=case.contract.verification.name_and_size_identifies,
    )
    return ours is not None and not any(_fits(described, other) for other in case.others)


def _accepts_acknowledgments(contract: Contract) -> bool:
    return contract.verification.acknowledgment.kind is not AcknowledgmentKind.NONE
