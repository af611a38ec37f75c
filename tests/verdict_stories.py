"""Cases as stories, what happened in order, shared by the tests of verdicts; and one story for each row."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

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
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    Refused,
    Says,
    Trouble,
    UploadFailed,
)
from exports.verdicts import (
    Case,
    JobRole,
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


COMPLETED, UNKNOWN = Conclusion.COMPLETED, Conclusion.OUTCOME_UNKNOWN
NOT_DELIVERED, NAME_OCCUPIED = Conclusion.NOT_DELIVERED, Conclusion.FINAL_NAME_OCCUPIED
ORIGINAL_DELIVERED = Conclusion.ORIGINAL_DELIVERED


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
