"""Send again: a new export that carries the original's delivery key, decided by a named person (I8).

Never the machine's decision, never a transition of the original. What the database can see, its statement checks
under the original's lock; what it cannot see is asked, and the answers are kept in the reason (reference: Recovery,
a replacement delivery is a new decision).
"""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, IntegrityError
from psycopg.errors import UniqueViolation

from exports import boundary
from exports.crashpoints import reach
from exports.models import CreationRequest, ExportJob, OverwriteAgreement
from exports.states import FailureReason, Status, Written

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from exports.managers import ExportJobManager

logger = logging.getLogger(__name__)

GIVE_UP_SECONDS = 5.0
"""How long a definite "not now" is tried again: a correction of the original holds it for milliseconds."""
ONE_REPLACEMENT = "uq_export_jobs_one_replacement"


@dataclass(frozen=True, slots=True)
class Judged:
    """One required yes or no, with where the person knows it from."""

    yes: bool
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the database cannot see, answered by the approver.

    An original that may still upload, or one nobody tried to reconcile, refuses the replacement unless
    `why_nevertheless` says why it is made all the same.
    """

    original_may_still_upload: Judged
    reconciliation_was_tried: Judged
    partner_deduplicates: Judged
    why_nevertheless: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A replacement as a person asks for it; `job_id` is their request id and becomes the replacement's."""

    tenant_id: UUID
    replaced_job_id: UUID
    decided_by: str
    reason: str
    answers: Answers
    overwrite_agreement_ref: str | None = None
    job_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The replacement was brought into being by this call."""

    job: ExportJob


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same request had created it before; `job` is as it is now."""

    job: ExportJob


@dataclass(frozen=True, slots=True)
class IdReused:
    """The id belongs to something else; nothing was written."""


@dataclass(frozen=True, slots=True)
class NotReplaceable:
    """The original may not be replaced as it stands; `status` and `failure_reason` say how it stands."""

    status: Status
    failure_reason: FailureReason | None


@dataclass(frozen=True, slots=True)
class ReplacementExists:
    """A replacement of this original is live, or has delivered, or found the original's file."""

    job_id: UUID | None


@dataclass(frozen=True, slots=True)
class SayWhy:
    """An answer speaks against sending again; the approver has to say why it is done nevertheless."""

    objections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoSuchAgreement:
    """The overwrite agreement named is not recorded for this destination."""


@dataclass(frozen=True, slots=True)
class NotFound:
    """This tenant has no such export."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Neither the statement nor the row answered; asking again with `job_id` is safe and finds out."""

    job_id: UUID


Replacement = (
    Created | Repeated | IdReused | NotReplaceable | ReplacementExists | SayWhy | NoSuchAgreement | NotFound | Unsettled
)


def create_replacement(wish: Wish, *, using: str = DEFAULT_DB_ALIAS) -> Replacement:
    """Create a replacement for an original, or for the original of the replacement that is named.

    The caller has checked that `decided_by` is a signed-in person who may approve replacements in this tenant.
    """
    original = original_of(wish.tenant_id, wish.replaced_job_id, using)
    if original is None:
        return NotFound()
    request = _Request(wish, original, wish.job_id or uuid.uuid4(), using)
    unknown: Replacement = Unsettled(request.job_id)
    return (
        request.earlier()
        or request.objection()
        or boundary.settle(
            request.write,
            request.read_back,
            unknown=unknown,
            give_up_at=time.monotonic() + GIVE_UP_SECONDS,
            using=using,
        )
    )


def original_of(tenant_id: UUID, job_id: UUID, using: str = DEFAULT_DB_ALIAS) -> ExportJob | None:
    """Return the export itself, or the original it replaced; None for a missing or foreign one."""
    jobs = ExportJob.objects.using(using).filter(tenant_id=tenant_id)
    job: ExportJob | None = jobs.filter(id=job_id).first()
    if job is None or job.replaces_job_id is None:
        return job
    original: ExportJob = jobs.get(id=job.replaces_job_id)
    return original


def objections_to(original: ExportJob, answers: Answers) -> tuple[str, ...]:
    """Return what speaks against sending again, from the answers and from the record.

    An original that is still OutcomeUnknown has, by that alone, no reconciliation on record.
    """
    unsettled = original.status == Status.OUTCOME_UNKNOWN
    asked = {
        "The original may still upload.": answers.original_may_still_upload.yes,
        "No reconciliation of the original is on record.": unsettled,
        "Reconciliation was not tried.": not answers.reconciliation_was_tried.yes,
        "The partner does not recognise a repeated delivery by its key.": not answers.partner_deduplicates.yes,
    }
    return tuple(words for words, applies in asked.items() if applies)


@dataclass(frozen=True, slots=True)
class _Request:
    """One wish about one original, under the id it would be created with."""

    wish: Wish
    original: ExportJob
    job_id: UUID
    using: str

    def earlier(self) -> Replacement | None:
        """Return the replacement this same request made before, whatever stands in its way now."""
        if self.wish.job_id is None or not self._jobs().filter(id=self.job_id).exists():
            return None
        return self._whose()

    def objection(self) -> Replacement | None:
        """Say what has to be answered or recorded first."""
        objections = objections_to(self.original, self.wish.answers)
        if objections and not self.wish.answers.why_nevertheless.strip():
            return SayWhy(objections)
        ref = self.wish.overwrite_agreement_ref
        agreements = OverwriteAgreement.objects.using(self.using).filter(
            ref=ref, tenant_id=self.original.tenant_id, destination_id=self.original.destination_id
        )
        return None if ref is None or agreements.exists() else NoSuchAgreement()

    def write(self) -> Replacement:
        """Run the statement and say what it did."""
        try:
            reach("replace.before")
            written = self._jobs_manager().create_replacement(
                job_id=self.job_id,
                tenant_id=self.original.tenant_id,
                original_job_id=self.original.id,
                created_by=self.wish.decided_by,
                replacement_reason=full_reason(self.wish),
                overwrite_agreement_ref=self.wish.overwrite_agreement_ref,
            )
            reach("replace.after")
        except IntegrityError as error:
            return self._taken(error)
        if written is not Written.APPLIED:
            return self._not_replaceable()
        ids = {"job_id": str(self.job_id), "tenant_id": str(self.original.tenant_id)}
        logger.info("replacement_created", extra=ids | {"replaces": str(self.original.id)})
        return Created(self._jobs().get(id=self.job_id))

    def read_back(self) -> Replacement:
        """Say what the row shows after a lost answer; absent, the old session being over, it was not applied."""
        return self._whose() if self._jobs().filter(id=self.job_id).exists() else Unsettled(self.job_id)

    def _taken(self, error: IntegrityError) -> Replacement:
        if not isinstance(error.__cause__, UniqueViolation):
            raise error
        if ONE_REPLACEMENT not in str(error):
            return self._whose()
        return ReplacementExists(self._slot_holder())

    def _slot_holder(self) -> UUID | None:
        """Return the replacement that holds the slot; it may have left it by now."""
        others = self._jobs().filter(tenant_id=self.original.tenant_id, replaces_job_id=self.original.id)
        freed = (Status.CANCELED, Status.REJECTED, Status.STOPPED, Status.FAILED)
        holders = others.exclude(status__in=freed) | others.filter(failure_reason=FailureReason.ORIGINAL_DELIVERED)
        holder: UUID | None = holders.values_list("id", flat=True).first()
        return holder

    def _not_replaceable(self) -> Replacement:
        now = self._jobs().get(id=self.original.id)
        return NotReplaceable(
            Status(now.status), FailureReason(now.failure_reason) if now.failure_reason is not None else None
        )

    def _whose(self) -> Replacement:
        """Tell an honest retry from a foreign use of the id by who first asked to replace what."""
        first = CreationRequest.objects.using(self.using).filter(
            job_id=self.job_id,
            tenant_id=self.original.tenant_id,
            requested_by=self.wish.decided_by,
            replaces_job_id=self.original.id,
        )
        return Repeated(self._jobs().get(id=self.job_id)) if first.exists() else IdReused()

    def _jobs(self) -> QuerySet[ExportJob]:
        return ExportJob.objects.using(self.using).all()

    def _jobs_manager(self) -> ExportJobManager:
        return ExportJob.objects.db_manager(self.using)


def full_reason(wish: Wish) -> str:
    """Return the reason with every answer and its source, as the row and the console keep it."""
    answers = wish.answers
    asked = (
        ("the original may still upload", answers.original_may_still_upload),
        ("reconciliation was tried", answers.reconciliation_was_tried),
        ("the partner deduplicates on the key", answers.partner_deduplicates),
    )
    lines = [f"{words}: {'yes' if judged.yes else 'no'} ({judged.source})" for words, judged in asked]
    if answers.why_nevertheless.strip():
        lines.append(f"nevertheless, because: {answers.why_nevertheless.strip()}")
    return "\n".join([wish.reason.strip(), *lines])
