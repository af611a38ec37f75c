"""The closed set of evidence about one attempt: what its worker saw, what others saw later, what people said.

A record states one observation and never a wish. None of them can change a job's status; verdicts are drawn
from all of them together.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, unique
from typing import ClassVar

from exports.evidence.shown import Name, Shown, Text
from exports.evidence.sightings import Answer, Sighting, Trouble


@unique
class Conclusion(StrEnum):
    """What an attempt's delivery came to; the values are statuses and failure codes of the job."""

    COMPLETED = "Completed"
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    NOT_DELIVERED = "NotDelivered"
    FINAL_NAME_OCCUPIED = "FinalNameOccupied"
    ORIGINAL_DELIVERED = "OriginalDelivered"


@unique
class Proof(StrEnum):
    """What kind of evidence a conclusion rests on."""

    HASH = "hash"
    ACKNOWLEDGMENT = "acknowledgment"
    STATEMENT = "statement"
    LISTING = "listing"
    NAME_AND_SIZE = "name_and_size"
    PUBLISH_REPLY = "publish_reply"
    NEVER_SENT = "never_sent"
    REFUSED_AND_UNCHANGED = "refused_and_unchanged"
    BASELINE = "baseline"
    NONE = "none"


@unique
class Phase(StrEnum):
    """Where an upload ended before anything was published."""

    LOOK = "look"
    OPEN = "open"
    WRITE = "write"
    FSYNC = "fsync"
    CLOSE = "close"
    VERIFY = "verify"
    COMPANION = "companion"


@unique
class PublishForm(StrEnum):
    """The request that gives a file its final name."""

    LINK = "link"
    RENAME = "rename"
    POSIX_RENAME = "posix_rename"
    DIRECT_WRITE = "direct_write"


@unique
class NotSentReason(StrEnum):
    """Why an attempt decided not to send its publish request."""

    OCCUPIED = "occupied"
    ORIGINAL_FOUND = "original_found"
    BASELINE_UNKNOWN = "baseline_unknown"
    APPEND_NOT_CONFIRMED = "append_not_confirmed"
    DRAINING = "draining"
    NO_OVERWRITE_FORM = "no_overwrite_form"
    COULD_NOT_CONNECT = "could_not_connect"


@unique
class Bound(StrEnum):
    """What an acknowledgment or statement is tied to.

    ATTEMPT: this attempt's upload and no other (for an original nobody has replaced, its key is enough).
    ORIGINAL: the delivery this replacement repeats. KEY: only the delivery key, which several uploads share.
    """

    ATTEMPT = "attempt"
    ORIGINAL = "original"
    KEY = "key"


@unique
class Says(StrEnum):
    """What a partner states about the file."""

    PUBLISHED = "published"
    NOT_PUBLISHED = "not_published"


@dataclass(frozen=True)
class Baseline(Shown):
    """What the final name showed before the first byte of this attempt; `server` and `host_key` say where."""

    KIND: ClassVar = "baseline"
    sighting: Sighting
    server: Name = ""
    host_key: Name = ""


@dataclass(frozen=True)
class UploadFailed(Shown):
    """The attempt ended before it sent a publish request: nothing stands under the final name by it."""

    KIND: ClassVar = "upload_failed"
    phase: Phase
    trouble: Trouble
    code: int | None = None
    text: Text = ""


@dataclass(frozen=True)
class NotSent(Shown):
    """The attempt decided not to publish and has ended; it will never send the request."""

    KIND: ClassVar = "not_sent"
    reason: NotSentReason
    text: Text = ""


@dataclass(frozen=True)
class PublishSent(Shown):
    """The publish request is about to be sent: from here on only evidence tells what happened."""

    KIND: ClassVar = "publish_sent"
    form: PublishForm
    temporary: Name
    final: Name


@dataclass(frozen=True)
class PublishAnswered:
    """What the publish request was answered, or that it was not."""

    KIND: ClassVar = "publish_answered"
    answer: Answer


@dataclass(frozen=True)
class ReadBack:
    """What the final name showed to the attempt after its publish request."""

    KIND: ClassVar = "read_back"
    sighting: Sighting


@dataclass(frozen=True)
class CompanionAnswered(Shown):
    """A marker or side-car sent after the file, and what came of it."""

    KIND: ClassVar = "companion"
    name: Name
    answer: Answer


@dataclass(frozen=True)
class TemporaryLeft(Shown):
    """Our own temporary name still stands at the partner, for the scavenger: it could not be removed."""

    KIND: ClassVar = "temporary_left"
    name: Name
    answer: Answer


@dataclass(frozen=True)
class Outcome(Shown):
    """What the attempt concluded, and from which kind of proof; the receipt when it is Completed."""

    KIND: ClassVar = "outcome"
    conclusion: Conclusion
    proof: Proof
    reason: Text = ""


@dataclass(frozen=True)
class ProbeSighting(Shown):
    """What somebody other than the attempt (recovery, a person's probe) saw under the final name later."""

    KIND: ClassVar = "probe_sighting"
    sighting: Sighting
    observed_by: Name = ""


@dataclass(frozen=True)
class Acknowledged(Shown):
    """The partner's acknowledgment, positive or negative, and what it is tied to."""

    KIND: ClassVar = "acknowledged"
    bound: Bound
    positive: bool = True
    name: Name = ""
    text: Text = ""
    observed_by: Name = ""


@dataclass(frozen=True)
class PartnerStatement(Shown):
    """What a person at the partner told a person here, with where it is written down."""

    KIND: ClassVar = "partner_statement"
    says: Says
    reference: Name
    observed_by: Name
    observed_at: datetime
    size: int | None = None
    sha256: str | None = None
    note: Text = ""


@dataclass(frozen=True)
class AccessRevoked(Shown):
    """The attempt's credentials or upload slot can publish no more, so a paused worker cannot either."""

    KIND: ClassVar = "access_revoked"
    reference: Name
    observed_by: Name
    observed_at: datetime
    note: Text = ""


@dataclass(frozen=True)
class Document(Shown):
    """A ticket or document that bears on this attempt; it proves nothing by itself."""

    KIND: ClassVar = "document"
    reference: Name
    observed_by: Name
    observed_at: datetime
    note: Text = ""


@dataclass(frozen=True)
class Unreadable(Shown):
    """A stored detail that is no evidence of a known form: shown to people, proof of nothing."""

    KIND: ClassVar = "unreadable"
    why: Name
    raw: Text = ""


Evidence = (
    Baseline
    | UploadFailed
    | NotSent
    | PublishSent
    | PublishAnswered
    | ReadBack
    | CompanionAnswered
    | TemporaryLeft
    | Outcome
    | ProbeSighting
    | Acknowledged
    | PartnerStatement
    | AccessRevoked
    | Document
    | Unreadable
)
"""Every record there is; `match` over it ends in `assert_never`."""
