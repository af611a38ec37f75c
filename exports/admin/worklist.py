"""The worklist: everything that waits for a person, oldest first: its age, what is missing, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from exports import evidence as seen
from exports.admin.base import reach
from exports.admin.evidence_words import say
from exports.admin.formats import Moment
from exports.admin.frame import PART, job_url, page
from exports.admin.hold_words import may_end
from exports.admin.verbs import offered_to
from exports.admin.weighing import Side, weigh
from exports.dossier import expected_of
from exports.queries.worklist import LOOKED_THROUGH, MOST, SWEPT_OFTEN, Waiting, Why, worklist
from exports.states import Status

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.http import HttpRequest
    from django.template.response import TemplateResponse

    from exports.models import ExportJob

TITLE = "Worklist"
NOTHING_MISSING = "Everything that can be looked at has been; a person has to decide."


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the list."""

    job: ExportJob
    address: str
    since: Moment
    mark: str
    tone: str
    why: str
    missing: str
    ways: tuple[tuple[str, str], ...]


@require_safe
def worklist_view(request: HttpRequest) -> TemplateResponse:
    """Show what waits for a person, within their reach."""
    if not request.user.has_perm("exports.view_exportjob"):
        raise PermissionDenied
    now = timezone.now()
    lines = [line_of(request, waiting, now) for waiting in worklist(reach(request), contradicts)]
    template = "worklist_lines" if request.headers.get(PART) else "worklist"
    bounds = {"most": MOST, "looked_through": LOOKED_THROUGH, "swept_often": SWEPT_OFTEN}
    return page(request, f"admin/exports/{template}.html", TITLE, [], lines=lines, **bounds)


def contradicts(job: ExportJob, attempt_id: UUID, record: seen.Evidence) -> bool:
    """Tell whether evidence that came late says something else than what is recorded of the export.

    Of an attempt that was superseded, whatever speaks for a delivery does. A file that is gone later contradicts no
    delivery: partners take their files away.
    """
    side = weigh(record, expected_of(job))
    if attempt_id != job.attempt_id:
        return side is Side.FOR
    if job.status == Status.COMPLETED:
        return side is Side.AGAINST and not _is_gone(record)
    return side is Side.FOR and job.status != Status.OUTCOME_UNKNOWN


def _is_gone(record: seen.Evidence) -> bool:
    return isinstance(record, seen.ReadBack | seen.ProbeSighting) and isinstance(record.sighting, seen.Absent)


def line_of(request: HttpRequest, waiting: Waiting, now: datetime) -> Line:
    """Return a line in words, with the verbs that this person may use."""
    mark, tone, why = _why(waiting)
    ways = [(verb.label, job_url(waiting.job.id, verb.name)) for verb in offered_to(request, waiting.job)]
    if waiting.hold is not None and may_end(request, waiting.hold):
        ways.insert(0, ("Let it go on…", reverse("admin:exports_hold_end", args=[waiting.hold.id])))
    since = Moment(waiting.since, now)
    return Line(waiting.job, job_url(waiting.job.id), since, mark, tone, why, _missing(waiting), tuple(ways))


def _why(waiting: Waiting) -> tuple[str, str, str]:
    match waiting.why:
        case Why.UNKNOWN:
            return "?", "amber", "Not known whether it was delivered."
        case Why.OCCUPIED:
            return "✕", "red", "The final name was taken by something that is not known to be this export."
        case Why.LATE:
            return "!", "red", f"Late evidence speaks against what is recorded ({waiting.job.status})."
        case Why.SWEPT:
            return "○", "amber", f"The sweeper has woken it {waiting.job.sweep_count} times, and it has not started."
        case Why.GUARDED:
            return "‖", "amber", "Its file looked wrong, so it was not sent."
        case why:
            assert_never(why)


def _missing(waiting: Waiting) -> str:
    match waiting.why:
        case Why.UNKNOWN:
            return " ".join(lacks(waiting.evidence)) or NOTHING_MISSING
        case Why.OCCUPIED:
            return "Whose file that is. A document added to its attempt takes it off this list."
        case Why.LATE:
            told = say(waiting.late) if waiting.late is not None else ""
            return f"{told} Whether the record is wrong. A document added to that attempt takes it off this list."
        case Why.SWEPT:
            return "Why no worker takes it: the workers, its destination, or the policy's own log may tell."
        case Why.GUARDED:
            reason = waiting.hold.reason if waiting.hold is not None else ""
            return f"{reason} Whether it is right all the same."
        case why:
            assert_never(why)


def lacks(evidence: tuple[seen.Evidence, ...]) -> list[str]:
    """Return what nobody has looked at or said yet about an attempt whose outcome is unknown."""
    answered = any(
        isinstance(each, seen.PublishAnswered) and not isinstance(each.answer, seen.NoReply) for each in evidence
    )
    looked = any(
        isinstance(each, seen.ReadBack | seen.ProbeSighting) and isinstance(each.sighting, seen.Present | seen.Absent)
        for each in evidence
    )
    told = any(isinstance(each, seen.PartnerStatement | seen.Acknowledged) for each in evidence)
    wanted = {
        "The server's answer to the request for the final name.": answered,
        "A look at the final name since.": looked,
        "A word from the partner.": told,
    }
    return [words for words, is_there in wanted.items() if not is_there]
