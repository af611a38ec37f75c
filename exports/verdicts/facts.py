"""What a delivery's evidence comes down to: a few closed facts, the only thing the table of verdicts sees."""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class Asker(StrEnum):
    """Who wants a verdict; each may conclude only what its place in the system allows."""

    WORKER = "worker"
    RECOVERY = "recovery"
    ACKNOWLEDGER = "acknowledger"
    RECONCILER = "reconciler"


@unique
class JobRole(StrEnum):
    """What the attempt's job is: an original, a replacement, or one that may overwrite by agreement."""

    ORIGINAL = "original"
    REPLACEMENT = "replacement"
    OVERWRITE = "overwrite"


@unique
class Before(StrEnum):
    """What the baseline showed under the final name."""

    UNRECORDED = "unrecorded"
    ABSENT = "absent"
    ORIGINALS = "originals"
    OTHER = "other"
    FORBIDDEN = "forbidden"
    UNANSWERED = "unanswered"


@unique
class Start(StrEnum):
    """From where the attempt set out: baseline and job together.

    CLEAR: the name was absent. BLIND_ALONE and BLIND_SHARED: nothing is known of it, and no other job, or the
    original, may have written it. OCCUPIED: a file nobody may replace. ORIGINALS: the original's own delivery.
    OVERWRITING: a file that a recorded agreement lets this attempt replace.
    """

    CLEAR = "clear"
    BLIND_ALONE = "blind_alone"
    BLIND_SHARED = "blind_shared"
    OCCUPIED = "occupied"
    ORIGINALS = "originals"
    OVERWRITING = "overwriting"


@unique
class Publishing(StrEnum):
    """What became of the publish request.

    NEVER_SENT: the attempt itself recorded that it ended without sending it. UNRECORDED: nothing is recorded,
    so it may still be sent. UNANSWERED: about to be sent, and no answer is known. REFUSED: an error status that
    on a one-step form means nothing happened. ERRED: any other error status.
    """

    NEVER_SENT = "never_sent"
    UNRECORDED = "unrecorded"
    UNANSWERED = "unanswered"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    ERRED = "erred"


@unique
class Aftermath(StrEnum):
    """What was seen under the final name afterwards.

    AS_BEFORE: the file of the baseline, which is surely not ours. HASH_MATCH and SIZE_MATCH: changed from the
    baseline, and matching our file and no other job's. INDISTINCT: it could be ours as well as what was there
    before or another job's. UNTOLD: the server would not tell enough.
    """

    UNSEEN = "unseen"
    ABSENT = "absent"
    AS_BEFORE = "as_before"
    HASH_MATCH = "hash_match"
    SIZE_MATCH = "size_match"
    INDISTINCT = "indistinct"
    MISMATCH = "mismatch"
    UNTOLD = "untold"


@unique
class PartnerWord(StrEnum):
    """What the partner itself has said about this attempt's file.

    ACKNOWLEDGED and REJECTED: an acknowledgment the contract accepts, tied to this attempt. STATED: a person's
    statement that identifies our file. MENTIONED: a claim of receipt that is not tied to this attempt. DENIED:
    not published, says the partner; DENIED_FOR_GOOD: and this attempt's access can publish no more.
    """

    SILENT = "silent"
    ACKNOWLEDGED = "acknowledged"
    REJECTED = "rejected"
    STATED = "stated"
    MENTIONED = "mentioned"
    DENIED = "denied"
    DENIED_FOR_GOOD = "denied_for_good"
    CONTRADICTORY = "contradictory"


@dataclass(frozen=True)
class Facts:
    """One cell of the table. The last three come from the contract.

    `announced`: every companion file the contract asks for was accepted, or it asks for none.
    """

    start: Start
    publishing: Publishing
    aftermath: Aftermath
    word: PartnerWord
    announced: bool
    reply_is_proof: bool
    consumes_at_once: bool
    one_step: bool


def start_of(role: JobRole, before: Before) -> Start:
    """Return from where an attempt of this job set out, given its baseline. Total."""
    blind = Start.BLIND_ALONE if role is JobRole.ORIGINAL else Start.BLIND_SHARED
    match before:
        case Before.ABSENT:
            return Start.CLEAR
        case Before.UNRECORDED | Before.FORBIDDEN | Before.UNANSWERED:
            return blind
        case Before.ORIGINALS:
            return Start.OCCUPIED if role is JobRole.ORIGINAL else Start.ORIGINALS
        case Before.OTHER:
            return Start.OVERWRITING if role is JobRole.OVERWRITE else Start.OCCUPIED
