"""Resolving Delivering attempts from evidence: Completed where it proves so, OutcomeUnknown where it does not (I6).

Recovery never uploads, never concludes Failed, and judges by the one table of verdicts under the contract
version that the attempt was claimed under. What a look showed is appended as evidence before it is judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from django.core.exceptions import ValidationError

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
from exports.models import DestinationContract, ExportAttemptEvent
from exports.states import Status, Written
from exports.verdicts import Asker, Case, JobRole, judge
from reconciliation.probe import Question
from reconciliation.takeover import Came

if TYPE_CHECKING:
    from exports.evidence import Evidence
    from exports.verdicts import Verdict
    from reconciliation.candidates import Candidate
    from reconciliation.managers import Takeovers

UNREADABLE = "the contract version it was claimed under cannot be read, so nothing can be judged or asked"


@dataclass(frozen=True, slots=True)
class Open:
    """An expired attempt whose evidence so far does not prove a delivery, and what to ask its partner."""

    candidate: Candidate
    question: Question


class Resolver:
    """Resolves the Delivering attempts of one recovery run; contract versions are immutable and read once."""

    def __init__(self, takeovers: Takeovers, run_id: str) -> None:
        self._takeovers = takeovers
        self._run_id = run_id
        self._contracts: dict[str | None, Contract | None] = {}

    def from_evidence(self, candidate: Candidate) -> Came | Open:
        """Resolve an attempt whose appended evidence suffices; else return what its partner has to be asked."""
        contract = self._contract(candidate.contract_id)
        if contract is None:
            return self._resolve(candidate, Status.OUTCOME_UNKNOWN, UNREADABLE)
        verdict = self._verdict(candidate, contract, candidate.evidence)
        if verdict.conclusion is Conclusion.COMPLETED:
            return self._resolve(candidate, Status.COMPLETED, verdict.reason)
        job = candidate.job
        name = str(job.expected_file_name)
        return Open(candidate, Question(candidate.attempt_id, job.destination_id, contract, name))

    def from_look(self, attempt: Open, sighting: Sighting) -> Came:
        """Keep what the look showed, then resolve from all the evidence; without an answer, wait within a bound."""
        candidate = attempt.candidate
        if isinstance(sighting, Unanswered) and not overdue(candidate):
            return Came.WAITING
        self._append(candidate, sighting)
        # Read again: the attempt may have appended its own receipt while its partner was looked at.
        evidence = dossier.evidence_of(candidate.job.id, candidate.attempt_id, self._takeovers.using)
        verdict = self._verdict(candidate, attempt.question.contract, evidence)
        completed = verdict.conclusion is Conclusion.COMPLETED
        resolution = Status.COMPLETED if completed else Status.OUTCOME_UNKNOWN
        whom = dossier.whom_to_ask(attempt.question.contract, resolution)
        return self._resolve(candidate, resolution, f"{verdict.reason}; {in_words(sighting)}{whom}")

    def _contract(self, contract_id: str | None) -> Contract | None:
        if contract_id not in self._contracts:
            self._contracts[contract_id] = read_contract(contract_id, self._takeovers.using)
        return self._contracts[contract_id]

    def _verdict(self, candidate: Candidate, contract: Contract, evidence: tuple[Evidence, ...]) -> Verdict:
        expected = dossier.expected_of(candidate.job)
        assert expected is not None, "a Delivering row has its expected file"  # noqa: S101 - held by the trigger
        family = self._family(candidate)
        case = Case(
            contract=contract,
            expected=expected,
            evidence=evidence,
            role=family.role,
            original=family.original,
            original_acknowledged=family.original_acknowledged,
            rivals=family.rivals,
        )
        return judge(case, Asker.RECOVERY)

    def _family(self, candidate: Candidate) -> dossier.Family:
        # An original that is Delivering has no replacement: creating one needs its end.
        if candidate.job.replaces_job_id is None:
            return dossier.Family(JobRole.ORIGINAL)
        return dossier.family_of(candidate.job, self._takeovers.using)

    def _append(self, candidate: Candidate, sighting: Sighting) -> None:
        reach("recover.evidence.before")
        ExportAttemptEvent.objects.db_manager(self._takeovers.using).append_evidence(
            job_id=candidate.job.id,
            attempt_id=candidate.attempt_id,
            observed_by=self._run_id,
            detail=encode(ProbeSighting(sighting, observed_by=self._run_id)),
        )
        reach("recover.evidence.after")

    def _resolve(self, candidate: Candidate, resolution: Status, summary: str) -> Came:
        reach("recover.resolved.before")
        written = self._takeovers.resolve(
            job_id=candidate.job.id,
            expired_attempt_id=candidate.attempt_id,
            resolution=resolution,
            evidence_summary=summary,
            recovery_run_id=self._run_id,
        )
        reach("recover.resolved.after")
        if written is Written.REFUSED:
            return Came.MOVED_ON
        return Came.COMPLETED if resolution is Status.COMPLETED else Came.OUTCOME_UNKNOWN


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


def read_contract(contract_id: str | None, using: str) -> Contract | None:
    """Return a recorded contract version, or None when the claim names none that can be read."""
    if contract_id is None:
        return None
    try:
        row = DestinationContract.objects.using(using).filter(id=contract_id).first()
        return None if row is None else Contract.from_json(row.terms)
    except (ContractError, ValidationError):
        return None
