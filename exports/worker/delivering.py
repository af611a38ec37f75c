"""Past the point of no return: deliver, record the evidence, write what is known (reference: The Worker).

Stop requests are recorded from here on, not obeyed, and a lost lease stops nothing: the upload is finished and
its evidence kept, and recovery reconciles, because the terminal write will match nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, assert_never

from exports.destinations.delivery import Confirmation, Delivered, Order
from exports.destinations.delivery import deliver as run_delivery
from exports.dossier import family_of, whom_to_ask
from exports.evidence import Conclusion, Evidence, ExpectedFile, encode
from exports.observability import counters
from exports.observability.partners import count_trouble
from exports.states import FailureReason, Status
from exports.worker.progress import Phase

if TYPE_CHECKING:
    from exports.worker.attempt import Attempt
    from exports.worker.builder import ExportFile
    from exports.worker.preparing import Prepared

logger = logging.getLogger(__name__)


def order_of(attempt: Attempt, file: ExportFile) -> Order:
    """Return what is to be delivered, with everything the rules for an existing final name need to know."""
    family = family_of(attempt.job, attempt.worker.using)
    return Order(
        contract=attempt.contract,
        attempt_id=str(attempt.writes.attempt_id),
        source=file.path,
        expected=ExpectedFile(attempt.final_name, file.bytes, file.sha256.hex()),
        role=family.role,
        original=family.original,
        original_acknowledged=family.original_acknowledged,
        rivals=family.rivals,
    )


def deliver(attempt: Attempt, prepared: Prepared) -> None:
    """Deliver once and record the outcome; the file is deleted and the lease finished whatever happened."""
    try:
        attempt.tally.begin(Phase.UPLOADING, prepared.file.bytes)
        with counters.phase_seconds.labels("deliver").time():
            delivered = run_delivery(
                prepared.borrowed.session,
                prepared.order,
                lambda record: _append(attempt, record),
                progress=attempt.tally.uploaded,
                abandon=lambda: attempt.worker.drain.is_over,
            )
        proven = delivered.verdict.conclusion is Conclusion.COMPLETED
        counters.delivered_bytes.inc(prepared.file.bytes if proven else 0)
        _finish(attempt, delivered)
    finally:
        attempt.lease.finish()
        prepared.borrowed.give_back()
        prepared.file.delete()


def _append(attempt: Attempt, record: Evidence) -> Confirmation:
    count_trouble(record)
    return Confirmation.CONFIRMED if attempt.writes.append(encode(record)) else Confirmation.NOT_CONFIRMED


def _finish(attempt: Attempt, delivered: Delivered) -> None:
    outcome, reason = status_of(delivered.verdict.conclusion)
    counters.verdicts.labels(delivered.verdict.conclusion, delivered.verdict.proof).inc()
    detail = f"{outcome}: {delivered.verdict.reason}{whom_to_ask(attempt.contract, outcome)}"
    written = attempt.writes.finish_delivery(outcome, reason, detail)
    logger.info("delivery_ended", extra={"outcome": outcome, "proof": delivered.verdict.proof, "written": written})


def status_of(conclusion: Conclusion) -> tuple[Status, FailureReason | None]:
    """Return the status, and the failure code, that records this conclusion."""
    match conclusion:
        case Conclusion.COMPLETED:
            return Status.COMPLETED, None
        case Conclusion.OUTCOME_UNKNOWN:
            return Status.OUTCOME_UNKNOWN, None
        case Conclusion.NOT_DELIVERED:
            return Status.FAILED, FailureReason.NOT_DELIVERED
        case Conclusion.FINAL_NAME_OCCUPIED:
            return Status.FAILED, FailureReason.FINAL_NAME_OCCUPIED
        case Conclusion.ORIGINAL_DELIVERED:
            return Status.FAILED, FailureReason.ORIGINAL_DELIVERED
        case never:
            assert_never(never)
