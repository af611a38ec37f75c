"""Rows of the table of verdicts as boxes, and the sets of values that they are drawn with."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

from exports.evidence import Conclusion, Proof
from exports.verdicts.facts import Aftermath, Facts, PartnerWord, Publishing, Start

ANY_BOOL: Final = frozenset({True, False})
ANY_START: Final = frozenset(Start)
ANY_PUBLISHING: Final = frozenset(Publishing)
ANY_AFTERMATH: Final = frozenset(Aftermath)
ANY_WORD: Final = frozenset(PartnerWord)


@dataclass(frozen=True)
class Row:
    """One box of the table: its name, what it concludes from which kind of proof, why, and what it covers."""

    name: str
    conclusion: Conclusion
    proof: Proof
    reason: str
    start: frozenset[Start] = ANY_START
    publishing: frozenset[Publishing] = ANY_PUBLISHING
    aftermath: frozenset[Aftermath] = ANY_AFTERMATH
    word: frozenset[PartnerWord] = ANY_WORD
    announced: frozenset[bool] = ANY_BOOL
    reply_is_proof: frozenset[bool] = ANY_BOOL
    consumes_at_once: frozenset[bool] = ANY_BOOL
    one_step: frozenset[bool] = ANY_BOOL

    def covers(self, facts: Facts) -> bool:
        """Whether the cell lies in this box."""
        return all(getattr(facts, each.name) in getattr(self, each.name) for each in fields(facts))


YES: Final = frozenset({True})
NO: Final = frozenset({False})

UNSENT: Final = frozenset({Publishing.NEVER_SENT})
MAYBE_SENT: Final = ANY_PUBLISHING - UNSENT
ACCEPTED: Final = frozenset({Publishing.ACCEPTED})
NOT_ACCEPTED: Final = MAYBE_SENT - ACCEPTED
UNANSWERED: Final = frozenset({Publishing.UNANSWERED})
REFUSED: Final = frozenset({Publishing.REFUSED})

HASH: Final = frozenset({Aftermath.HASH_MATCH})
SIZE: Final = frozenset({Aftermath.SIZE_MATCH})
FITTING: Final = frozenset({Aftermath.SIZE_MATCH, Aftermath.INDISTINCT})
MISMATCH: Final = frozenset({Aftermath.MISMATCH})
NOTHING_SEEN: Final = frozenset({Aftermath.UNSEEN, Aftermath.ABSENT, Aftermath.UNTOLD})
UNCHANGED: Final = frozenset({Aftermath.ABSENT, Aftermath.AS_BEFORE})
AS_BEFORE: Final = frozenset({Aftermath.AS_BEFORE})
ABSENT: Final = frozenset({Aftermath.ABSENT})

CLEAR: Final = frozenset({Start.CLEAR})
BLIND: Final = frozenset({Start.BLIND_ALONE, Start.BLIND_SHARED})
OVERWRITING: Final = frozenset({Start.OVERWRITING})
TAKEN: Final = frozenset({Start.OCCUPIED, Start.ORIGINALS})
TELLING: Final = frozenset({Start.CLEAR, Start.BLIND_ALONE, Start.OVERWRITING})

DENIED: Final = frozenset({PartnerWord.DENIED})
FOR_GOOD: Final = frozenset({PartnerWord.DENIED_FOR_GOOD})
MENTIONED: Final = frozenset({PartnerWord.MENTIONED})
OPEN: Final = frozenset({PartnerWord.SILENT, PartnerWord.MENTIONED})
UNDISPUTED: Final = frozenset({PartnerWord.SILENT, PartnerWord.DENIED})
UNPROVEN: Final = OPEN | DENIED
NO_RECEIPT: Final = UNDISPUTED | FOR_GOOD


def words(*said: PartnerWord) -> frozenset[PartnerWord]:
    """Name one or several of the partner's words."""
    return frozenset(said)


def unknown(name: str, reason: str, **box: Any) -> Row:
    """Make a row that leaves the outcome unknown."""
    return Row(name, Conclusion.OUTCOME_UNKNOWN, Proof.NONE, reason, **box)


def completed(name: str, proof: Proof, reason: str, **box: Any) -> Row:
    """Make a row that finds the delivery proven."""
    return Row(name, Conclusion.COMPLETED, proof, reason, **box)


def delivered(name: str, proof: Proof, reason: str, **box: Any) -> Iterator[Row]:
    """Make the pair of rows for a file that is proven to stand there: its companions stand there too, or not."""
    yield completed(name, proof, reason, announced=YES, **box)
    missing = "; but a file that must go along with it was not confirmed, so the partner may not know of it"
    yield unknown(f"{name}, not announced", reason + missing, announced=NO, **box)


def not_delivered(name: str, proof: Proof, reason: str, **box: Any) -> Row:
    """Make a row that finds it proven that this attempt published nothing."""
    return Row(name, Conclusion.NOT_DELIVERED, proof, reason, **box)
