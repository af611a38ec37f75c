"""What bears on a delivery beside its own evidence: the original it repeats, and others under the same name.

Read from the rows for every verdict: by the worker, by recovery, by acknowledgments and by the screens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from exports.evidence import Acknowledged, Bound, Evidence, ExpectedFile, decode
from exports.models import DestinationContract, ExportAttemptEvent, ExportJob
from exports.states import EventKind, Status
from exports.verdicts import Case, JobRole

if TYPE_CHECKING:
    from uuid import UUID

    from exports.contracts import Contract


@dataclass(frozen=True, slots=True)
class Family:
    """The jobs that share a final name, as one of them has to see them."""

    role: JobRole
    original: ExpectedFile | None = None
    original_acknowledged: bool = False
    rivals: tuple[ExpectedFile, ...] = ()


def family_of(job: ExportJob, using: str = "default") -> Family:
    """Read who else may have written this job's final name."""
    if job.replaces_job_id is None:
        return Family(JobRole.ORIGINAL, rivals=_expected_of_replacements(job.id, job.id, using))
    original = ExportJob.objects.using(using).get(id=job.replaces_job_id, tenant_id=job.tenant_id)
    return Family(
        JobRole.OVERWRITE if job.overwrite_agreement_ref else JobRole.REPLACEMENT,
        original=expected_of(original),
        original_acknowledged=_is_acknowledged(original, using),
        rivals=_expected_of_replacements(original.id, job.id, using),
    )


def expected_of(job: ExportJob) -> ExpectedFile | None:
    """Return the file recorded at cutoff 2, or None: this job was never authorized."""
    name, size, sha256 = job.expected_file_name, job.expected_file_bytes, job.expected_file_sha256
    if name is None or size is None or sha256 is None:
        return None
    return ExpectedFile(name, size, bytes(sha256).hex())


def evidence_of(job_id: UUID, attempt_id: UUID, using: str = "default") -> tuple[Evidence, ...]:
    """Return an attempt's evidence, oldest first."""
    details = ExportAttemptEvent.objects.using(using).filter(
        job_id=job_id, attempt_id=attempt_id, kind=EventKind.DELIVERY_EVIDENCE
    )
    return tuple(decode(detail or "") for detail in details.order_by("id").values_list("detail", flat=True))


def contract_of(job_id: UUID, attempt_id: UUID, using: str = "default") -> DestinationContract | None:
    """Return the contract version this attempt was claimed under, by which everything about it is judged."""
    claimed = ExportAttemptEvent.objects.using(using).filter(
        job_id=job_id, attempt_id=attempt_id, kind=EventKind.CLAIMED
    )
    contract_id = claimed.values_list("detail", flat=True).first()
    return DestinationContract.objects.using(using).filter(id=contract_id).first() if contract_id else None


def case_of(job: ExportJob, contract: Contract, using: str = "default") -> Case | None:
    """Return everything a verdict on the job's current attempt may rest on; None before its cutoff 2."""
    expected = expected_of(job)
    if expected is None or job.attempt_id is None:
        return None
    family = family_of(job, using)
    return Case(
        contract=contract,
        expected=expected,
        evidence=evidence_of(job.id, job.attempt_id, using),
        role=family.role,
        original=family.original,
        original_acknowledged=family.original_acknowledged,
        rivals=family.rivals,
    )


# Written out: almost always there is none, and composing the question would cost more than the answer.
RIVALS: Final = """
    SELECT * FROM export_jobs
    WHERE replaces_job_id = %(original_id)s AND expected_file_name IS NOT NULL AND id <> %(without)s"""


def _expected_of_replacements(original_id: UUID, without: UUID, using: str) -> tuple[ExpectedFile, ...]:
    """Read the files of the original's replacements that were authorized, leaving one job out."""
    asked = {"original_id": original_id, "without": without}
    return tuple(filter(None, map(expected_of, ExportJob.objects.using(using).raw(RIVALS, asked))))


def _is_acknowledged(original: ExportJob, using: str) -> bool:
    """Whether the partner acknowledged the original's own delivery."""
    if original.attempt_id is None:
        return False
    return any(
        isinstance(each, Acknowledged) and each.positive and each.bound is Bound.ATTEMPT
        for each in evidence_of(original.id, original.attempt_id, using)
    )


def whom_to_ask(contract: Contract, outcome: Status) -> str:
    """Return who at the partner can say whether a file arrived, where that is unknown and the contract names one."""
    whom = contract.people.outcomes
    return f" (ask at the partner: {whom})" if whom and outcome is Status.OUTCOME_UNKNOWN else ""
