"""Which side a piece of evidence is on, as a person reads it; what follows from all of it is the verdict's business."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from exports import evidence as seen

if TYPE_CHECKING:
    from exports.evidence import ExpectedFile


class Side(StrEnum):
    """What one record says about the delivery, taken by itself."""

    FOR = "for"
    AGAINST = "against"
    OPEN = "open"


def weigh(record: seen.Evidence, expected: ExpectedFile | None) -> Side:  # noqa: PLR0911 - one line for each kind there is
    """Return the side of a record; `expected` is the file of cutoff 2, None for an attempt that never had one."""
    match record:
        case seen.PublishAnswered(answer=answer):
            return _answer(answer)
        case seen.ReadBack(sighting=sighting) | seen.ProbeSighting(sighting=sighting):
            return _sighting(sighting, expected)
        case seen.Acknowledged(bound=bound, positive=positive):
            return _side(positive) if bound is seen.Bound.ATTEMPT else Side.OPEN
        case seen.PartnerStatement(says=says):
            return _side(says is seen.Says.PUBLISHED)
        case seen.Outcome(conclusion=conclusion):
            return _conclusion(conclusion)
        case seen.UploadFailed() | seen.NotSent():
            return Side.AGAINST
        case (
            seen.Baseline()
            | seen.PublishSent()
            | seen.CompanionAnswered()
            | seen.TemporaryLeft()
            | seen.AccessRevoked()
            | seen.Document()
            | seen.Unreadable()
        ):
            return Side.OPEN
        case _:
            assert_never(record)


def _side(speaks_for_it: bool) -> Side:  # noqa: FBT001 - the one thing it is about
    return Side.FOR if speaks_for_it else Side.AGAINST


def _answer(answer: seen.Answer) -> Side:
    match answer:
        case seen.Accepted():
            return Side.FOR
        case seen.Refused():
            return Side.AGAINST
        case seen.NoReply():
            return Side.OPEN
        case _:
            assert_never(answer)


def _sighting(sighting: seen.Sighting, expected: ExpectedFile | None) -> Side:
    match sighting:
        case seen.Absent():
            return Side.AGAINST
        case seen.Present(size=size, sha256=sha256):
            if size is None and sha256 is None:
                return Side.OPEN
            return _side(expected is not None and _fits(sighting, expected))
        case seen.Forbidden() | seen.Unanswered():
            return Side.OPEN
        case _:
            assert_never(sighting)


def _fits(found: seen.Present, expected: ExpectedFile) -> bool:
    if found.sha256 is not None:
        return found.sha256.lower() == expected.sha256.lower()
    return found.regular and found.size == expected.size


def _conclusion(conclusion: seen.Conclusion) -> Side:
    match conclusion:
        case seen.Conclusion.COMPLETED:
            return Side.FOR
        case seen.Conclusion.OUTCOME_UNKNOWN:
            return Side.OPEN
        case seen.Conclusion.NOT_DELIVERED | seen.Conclusion.FINAL_NAME_OCCUPIED | seen.Conclusion.ORIGINAL_DELIVERED:
            return Side.AGAINST
        case _:
            assert_never(conclusion)
