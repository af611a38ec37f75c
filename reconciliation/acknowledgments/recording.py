"""Keeping an acknowledgment as evidence, once, and completing what it proves where the contract says so (I6).

The rule never concludes Failed, and never Completed without evidence tied to the attempt: it asks the one table of
verdicts as the acknowledger, and its statement refuses when more evidence has come since.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from exports import dossier
from exports.crashpoints import reach
from exports.evidence import Acknowledged, Bound, Conclusion, encode
from exports.models import ExportJob
from exports.states import Status, Written
from exports.verdicts import Asker, judge
from reconciliation.acknowledgments.said import tie

if TYPE_CHECKING:
    from exports.contracts import Contract
    from exports.verdicts import Case
    from reconciliation.acknowledgments.looking import Found
    from reconciliation.managers import Acknowledgments

RULE = "rule:acknowledgment"
"""Who settled an export, in its Reconciled event, when it was this rule."""


class Came(StrEnum):
    """What became of one acknowledgment, or of one export that it may complete."""

    APPENDED = "appended"
    SEEN_BEFORE = "seen_before"
    OF_ANOTHER = "of_another"
    COMPLETED = "completed"
    MOVED_ON = "moved_on"
    LEFT_OPEN = "left_open"


class Recorder:
    """Writes what one run has found, under the role of the acknowledger."""

    def __init__(self, statements: Acknowledgments, observed_by: str) -> None:
        self._statements = statements
        self._observed_by = observed_by

    def append(self, found: Found) -> Came:
        """Append what was found to its attempt's evidence, unless it was before."""
        bound = self._bound(found)
        if bound is None:
            return Came.OF_ANOTHER
        form = found.form
        record = Acknowledged(bound, form.positive, form.name, found.words, self._observed_by)
        reach("acknowledgment.append.before")
        written = self._statements.collect(
            job_id=found.job_id,
            attempt_id=found.attempt_id,
            name=form.name,
            mark=found.mark,
            observed_by=self._observed_by,
            detail=encode(record),
        )
        reach("acknowledgment.append.after")
        return Came.APPENDED if written is Written.APPLIED else Came.SEEN_BEFORE

    def complete(self, job: ExportJob, contract: Contract) -> Came:
        """Complete an export of unknown outcome if its evidence proves that and its contract lets this rule."""
        case = dossier.case_of(job, contract, self._statements.using)
        if case is None or job.attempt_id is None or job.status != Status.OUTCOME_UNKNOWN:
            return Came.LEFT_OPEN
        verdict = judge(case, Asker.ACKNOWLEDGER)
        if verdict.conclusion is not Conclusion.COMPLETED:
            return Came.LEFT_OPEN
        reach("acknowledgment.complete.before")
        written = self._statements.complete_acknowledged(
            tenant_id=job.tenant_id,
            job_id=job.id,
            attempt_id=job.attempt_id,
            judged_evidence=len(case.evidence),
            reconciled_by=RULE,
            evidence_ref=reference(case),
            reason=verdict.reason,
        )
        reach("acknowledgment.complete.after")
        return Came.COMPLETED if written is Written.APPLIED else Came.MOVED_ON

    def _bound(self, found: Found) -> Bound | None:
        """Say what it is tied to, by who may have written under that name when it was seen, or since."""
        job = ExportJob.objects.using(self._statements.using).get(id=found.job_id)
        expected = dossier.expected_of(job)
        if expected is None or job.attempt_id != found.attempt_id:
            return None
        family = dossier.family_of(job, self._statements.using)
        by_size = found.contract.verification.name_and_size_identifies
        bound = tie(found.said, expected, family, size_identifies=by_size)
        return bound if found.certain or bound is None else Bound.KEY


def reference(case: Case) -> str:
    """Say which evidence the rule rests on."""
    names = (each.name for each in case.evidence if isinstance(each, Acknowledged) and _is_ours(each))
    name = next(names, None)
    return "the hash of the delivered file" if name is None else f"acknowledgment {name}"


def _is_ours(record: Acknowledged) -> bool:
    return record.positive and record.bound is Bound.ATTEMPT
