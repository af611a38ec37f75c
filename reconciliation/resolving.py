"""Resolving Delivering attempts from evidence: Completed where it proves so, OutcomeUnknown where it does not (I6).

Recovery never uploads, never concludes Failed, and judges by the one table of verdicts under the contract
version that the attempt was claimed under. What a look showed is appended as evidence before it is judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from exports import dossier
from exports.conf import limits
from exports.contracts import Contract, ContractError
from exports.crashpoints import reach
from exports.evidence import (
    Absent,
    Conclusion,
    Forbidden,
    Present,
    ProbeSighting,
    Sighting,
    Unanswered,
    encode,
)
from exports.models import ExportAttemptEvent, ExportJob
from exports.states import Status, Written
from exports.verdicts import Asker, judge
from reconciliation.probe import Question
from reconciliation.takeover import Came

if TYPE_CHECKING:
    from exports.verdicts import Verdict
    from reconciliation.candidates import Candidate
    from reconciliation.managers import Takeovers

UNREADABLE = "the contract version it was claimed under cannot be read, so nothing can be judged or asked"


@dataclass(frozen=True, slots=True)
class Open:
    """An expired attempt whose evidence so far does not prove a delivery, and what to ask its partner."""

    candidate: Candidate
    question: Question


def resolve_from_evidence(candidate: Candidate, takeovers: Takeovers, run_id: str) -> Came | Open:
    """Resolve an attempt whose appended evidence suffices; otherwise return what its partner has to be asked."""
    job = _still_ours(candidate, takeovers.using)
    if job is None or job.expected_file_name is None:
        return Came.MOVED_ON
    contract = _contract_of(candidate, takeovers.using)
    if contract is None:
        return _resolve(candidate, takeovers, run_id, Status.OUTCOME_UNKNOWN, UNREADABLE)
    verdict = _verdict(job, contract, takeovers.using)
    if verdict.conclusion is Conclusion.COMPLETED:
        return _resolve(candidate, takeovers, run_id, Status.COMPLETED, verdict.reason)
    question = Question(candidate.attempt_id, candidate.destination_id, contract, job.expected_file_name)
    return Open(candidate, question)


def resolve_from_look(attempt: Open, sighting: Sighting, takeovers: Takeovers, run_id: str) -> Came:
    """Keep what the look showed, then resolve from all the evidence; without an answer, wait within a bound."""
    if isinstance(sighting, Unanswered) and not overdue(attempt.candidate):
        return Came.WAITING
    job = _still_ours(attempt.candidate, takeovers.using)
    if job is None:
        return Came.MOVED_ON
    _append(attempt.candidate, sighting, takeovers.using, run_id)
    verdict = _verdict(job, attempt.question.contract, takeovers.using)
    completed = verdict.conclusion is Conclusion.COMPLETED
    resolution = Status.COMPLETED if completed else Status.OUTCOME_UNKNOWN
    summary = f"{verdict.reason}; {in_words(sighting)}"
    return _resolve(attempt.candidate, takeovers, run_id, resolution, summary)


def overdue(candidate: Candidate) -> bool:
    """Whether this attempt has waited for its partner's answer as long as any may."""
    return candidate.expired_seconds >= limits().resolve_after_seconds


def in_words(sighting: Sighting) -> str:
    """Say what a look showed, for the event that rests on it."""
    match sighting:
        case Absent():
            return "a look found no file under the final name"
        case Present(size, sha256):
            hashed = "its hash is not known" if sha256 is None else f"its SHA-256 is {sha256}"
            return f"a look found a file of {'unknown' if size is None else size} bytes, {hashed}"
        case Forbidden(_, text):
            return f"the partner does not tell what stands under the final name: {text}"
        case Unanswered(trouble, _, text):
            return f"the partner was asked and did not answer ({trouble}): {text}"
        case _:
            assert_never(sighting)


def _still_ours(candidate: Candidate, using: str) -> ExportJob | None:
    job: ExportJob | None = (
        ExportJob.objects.using(using)
        .filter(id=candidate.job_id, attempt_id=candidate.attempt_id, status=Status.DELIVERING)
        .first()
    )
    return job


def _contract_of(candidate: Candidate, using: str) -> Contract | None:
    row = dossier.contract_of(candidate.job_id, candidate.attempt_id, using)
    if row is None:
        return None
    try:
        return Contract.from_json(row.terms)
    except ContractError:
        return None


def _verdict(job: ExportJob, contract: Contract, using: str) -> Verdict:
    case = dossier.case_of(job, contract, using)
    assert case is not None, "a Delivering row has its expected file"  # noqa: S101 - held by the trigger
    return judge(case, Asker.RECOVERY)


def _append(candidate: Candidate, sighting: Sighting, using: str, run_id: str) -> None:
    reach("recover.evidence.before")
    ExportAttemptEvent.objects.db_manager(using).append_evidence(
        job_id=candidate.job_id,
        attempt_id=candidate.attempt_id,
        observed_by=run_id,
        detail=encode(ProbeSighting(sighting, observed_by=run_id)),
    )
    reach("recover.evidence.after")


def _resolve(candidate: Candidate, takeovers: Takeovers, run_id: str, resolution: Status, summary: str) -> Came:
    reach("recover.resolved.before")
    written = takeovers.resolve(
        job_id=candidate.job_id,
        expired_attempt_id=candidate.attempt_id,
        resolution=resolution,
        evidence_summary=summary,
        recovery_run_id=run_id,
    )
    reach("recover.resolved.after")
    if written is Written.REFUSED:
        return Came.MOVED_ON
    return Came.COMPLETED if resolution is Status.COMPLETED else Came.OUTCOME_UNKNOWN
