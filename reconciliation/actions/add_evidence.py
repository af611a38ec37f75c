"""Append what a person learned about an attempt's delivery; it changes no status (I6)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from exports.crashpoints import reach
from exports.evidence import AccessRevoked, Document, PartnerStatement, encode
from exports.models import ExportAttemptEvent
from exports.states import Written
from reconciliation.actions.settling import find

if TYPE_CHECKING:
    from uuid import UUID

Learned = PartnerStatement | AccessRevoked | Document
"""What a person can put beside the worker's evidence."""


class Added(StrEnum):
    """Whether the evidence is recorded."""

    ADDED = "Added"
    NO_SUCH_ATTEMPT = "NoSuchAttempt"


def add_evidence(
    tenant_id: UUID, job_id: UUID, attempt_id: UUID, learned: Learned, *, using: str = "reconciliation"
) -> Added:
    """Append a person's evidence for an attempt of this tenant's export; database errors pass through."""
    if find(tenant_id, job_id, using) is None:
        return Added.NO_SUCH_ATTEMPT
    reach("person_evidence.before")
    written = ExportAttemptEvent.objects.db_manager(using).append_evidence(
        job_id=job_id, attempt_id=attempt_id, observed_by=learned.observed_by, detail=encode(learned)
    )
    reach("person_evidence.after")
    return Added.ADDED if written is Written.APPLIED else Added.NO_SUCH_ATTEMPT
