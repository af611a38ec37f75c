"""Send a queued export to another destination: a new version of its terms, and a new wake-up (I1, I5).

One statement does all of it: the row, its version, the outbox row and the record of who and why. A worker that
had evaluated the old terms fails its claim; the wake-up brings the export to one that evaluates the new ones.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from django.db import DatabaseError, InterfaceError

from exports.boundary import Doubt, ask_the_row, doubt_of
from exports.crashpoints import reach
from exports.models import ExportJob, TermsChange

if TYPE_CHECKING:
    from uuid import UUID

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 1
"""When an edit that got no answer is worth another try: rows are held for milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsEdit:
    """One person's or client's wish: this export, in the version they looked at, to that destination."""

    tenant_id: UUID
    job_id: UUID
    destination_id: UUID
    expected_version: int
    changed_by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """The export goes to the new destination, under this version."""

    version: int


@dataclass(frozen=True, slots=True)
class NotChanged:
    """It started, ended, was edited since it was looked at, is a replacement, or may not go there; `job` is now."""

    job: ExportJob


@dataclass(frozen=True, slots=True)
class NoSuchExport:
    """No such export in this tenant; another tenant's looks exactly like a missing one."""


@dataclass(frozen=True, slots=True)
class TermsBusy:
    """The database gave no answer, and no record of this edit could be read; ask again with the same version."""

    retry_after_seconds: int = RETRY_AFTER_SECONDS


TermsAnswer = Changed | NotChanged | NoSuchExport | TermsBusy


def change_terms(edit: TermsEdit, *, using: str = "default") -> TermsAnswer:
    """Apply an edit of a queued export's terms, or say why nothing changed; other database errors pass through."""
    reach("terms.before")
    try:
        answer = _change(edit, using)
    except (DatabaseError, InterfaceError) as error:
        return _without_an_answer(edit, using, error)
    reach("terms.after")
    return answer


def _change(edit: TermsEdit, using: str) -> TermsAnswer:
    version = ExportJob.objects.db_manager(using).change_terms(
        tenant_id=edit.tenant_id,
        job_id=edit.job_id,
        destination_id=edit.destination_id,
        expected_version=edit.expected_version,
        changed_by=edit.changed_by,
        reason=edit.reason,
    )
    if version is None:
        return _as_it_is(edit, using)
    ids = {"job_id": str(edit.job_id), "tenant_id": str(edit.tenant_id)}
    logger.info("terms_changed", extra=ids | {"actor": edit.changed_by, "version": version})
    return Changed(version)


def _without_an_answer(edit: TermsEdit, using: str, error: Exception) -> TermsAnswer:
    match doubt_of(error, using):
        case Doubt.NOT_NOW:
            return TermsBusy()
        case Doubt.UNKNOWN:
            unknown: TermsAnswer = TermsBusy()
            return ask_the_row(lambda: _what_came_of_it(edit, using), unknown=unknown, using=using)
        case Doubt.REAL:
            raise error
        case doubt:
            assert_never(doubt)


def _what_came_of_it(edit: TermsEdit, using: str) -> TermsAnswer:
    # Only this edit's own record proves it: the same version may be another person's edit.
    version = edit.expected_version + 1
    recorded = TermsChange.objects.using(using).filter(
        job_id=edit.job_id,
        version=version,
        to_destination_id=edit.destination_id,
        changed_by=edit.changed_by,
        reason=edit.reason,
    )
    if recorded.exists():
        return Changed(version)
    current = _as_it_is(edit, using)
    untouched = isinstance(current, NotChanged) and current.job.version == edit.expected_version
    return TermsBusy() if untouched else current


def _as_it_is(edit: TermsEdit, using: str) -> NotChanged | NoSuchExport:
    job = ExportJob.objects.using(using).filter(id=edit.job_id, tenant_id=edit.tenant_id).first()
    return NoSuchExport() if job is None else NotChanged(job)
