"""Everything that is recorded about one export, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from exports.evidence import Acknowledged, Conclusion, Evidence, Outcome, Proof, Unreadable, decode
from exports.models import (
    AttemptProgress,
    AuthorizedFile,
    CancellationRequest,
    CreationRequest,
    DestinationContract,
    ExportAttemptEvent,
    ExportJob,
    ExportRejection,
    OutboxMessage,
    TermsChange,
)
from exports.queries.jobs import as_uuid
from exports.states import EventKind

if TYPE_CHECKING:
    from django.db.models import QuerySet

MOST_OF_A_KIND = 500
"""Rows of each table on one page; an export with more is a matter for the lists and the API."""


@dataclass(frozen=True)
class History:
    """One export's records, each list oldest first and cut to the newest."""

    job: ExportJob
    events: list[ExportAttemptEvent]
    clicks: list[CancellationRequest]
    wake_ups: list[OutboxMessage]
    terms: list[TermsChange]
    rejections: list[ExportRejection]
    request: CreationRequest | None
    family: list[ExportJob]
    file: AuthorizedFile | None
    progress: AttemptProgress | None

    @cached_property
    def evidence(self) -> dict[int, Evidence]:
        """Each evidence event's record, by the event's id."""
        kind = EventKind.DELIVERY_EVIDENCE
        return {event.id: decode(event.detail) for event in self.events if event.kind == kind}

    @property
    def stop(self) -> CancellationRequest | None:
        """The first request to stop, when one is recorded on the job."""
        return self._click(self.job.stop_request_id)

    @property
    def cancellation(self) -> CancellationRequest | None:
        """The request that cancelled the job while it was queued."""
        return self._click(self.job.cancellation_request_id)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Policy's reasons for the version it refused last."""
        return tuple(str(reason) for reason in self.rejections[-1].reasons) if self.rejections else ()

    @property
    def proof(self) -> Proof | None:
        """The kind of evidence that the current attempt's delivery rests on, as far as it is recorded."""
        for record in reversed(self._of_current_attempt()):
            if isinstance(record, Outcome) and record.conclusion is Conclusion.COMPLETED:
                return record.proof
            if isinstance(record, Acknowledged) and record.positive:
                return Proof.ACKNOWLEDGMENT
        return None

    @property
    def last_evidence(self) -> Evidence | None:
        """What was seen last of the current attempt, conclusions left aside."""
        ours = self._of_current_attempt()
        sightings = [each for each in ours if not isinstance(each, (Outcome, Unreadable))]
        return sightings[-1] if sightings else None

    def _of_current_attempt(self) -> list[Evidence]:
        current = (event for event in self.events if event.attempt_id == self.job.attempt_id)
        return [self.evidence[event.id] for event in current if event.id in self.evidence]

    def _click(self, request_id: Any) -> CancellationRequest | None:
        return next((click for click in self.clicks if click.id == request_id), None)


def history_of(job: ExportJob) -> History:
    """Read what is recorded about one export."""
    of_job = {"job_id": job.id}
    attempts = [job.attempt_id] if job.attempt_id else []
    original = job.replaces_job_id or job.id
    terms = TermsChange.objects.select_related("from_destination", "to_destination")
    return History(
        job=job,
        events=_newest(ExportAttemptEvent.objects.filter(**of_job), "id"),
        clicks=_newest(CancellationRequest.objects.filter(**of_job), "recorded_at", "id"),
        wake_ups=_newest(OutboxMessage.objects.filter(**of_job), "created_at"),
        terms=_newest(terms.filter(**of_job), "version"),
        rejections=_newest(ExportRejection.objects.filter(**of_job), "version"),
        request=CreationRequest.objects.filter(**of_job).first(),
        family=_newest(
            ExportJob.objects.filter(Q(id=original) | Q(replaces_job_id=original)).exclude(id=job.id),
            "created_at",
        ),
        file=AuthorizedFile.objects.filter(attempt_id__in=attempts).first(),
        progress=AttemptProgress.objects.filter(attempt_id__in=attempts).first(),
    )


def contracts_of(history: History) -> dict[str, DestinationContract]:
    """Return the contract version that each attempt was claimed under, by the attempt's id."""
    claimed = {
        str(event.attempt_id): as_uuid(event.detail or "")
        for event in history.events
        if event.kind == EventKind.CLAIMED
    }
    found = DestinationContract.objects.select_related("destination").in_bulk(
        [contract_id for contract_id in claimed.values() if contract_id]
    )
    return {attempt: found[contract] for attempt, contract in claimed.items() if contract in found}


def _newest(rows: QuerySet[Any], *columns: str) -> list[Any]:
    latest = rows.order_by(*(f"-{column}" for column in columns))[:MOST_OF_A_KIND]
    return list(latest)[::-1]
