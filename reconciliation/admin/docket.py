"""Everything a person needs before they settle or correct an attempt, read without a lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.html import format_html

from exports import dossier
from exports.admin.evidence_words import say
from exports.admin.formats import Moment, moment
from exports.admin.weighing import Side, weigh
from exports.evidence import decode
from exports.models import ExportAttemptEvent, ExportJob
from exports.states import EventKind, Status
from exports.verdicts import Asker, Start, facts_of, judge
from reconciliation.actions.settling import SettledBy, case_of, find, settled_by
from reconciliation.admin import ALIAS

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from exports.verdicts import Case, Verdict

MOST = 500
"""Pieces of evidence shown, the latest; an attempt that has more is not read through by a person."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of evidence in words: when it was recorded, by whom, and which side it is on."""

    when: Moment
    who: str
    words: str
    side: Side


@dataclass(frozen=True, slots=True)
class Docket:
    """One attempt's case: the row as it is, its evidence, what that proves, and who decided before."""

    job: ExportJob
    pieces: tuple[Piece, ...]
    verdict: Verdict | None
    original_first: ExportJob | None
    reconciled: SettledBy | None
    corrected: SettledBy | None
    family: tuple[ExportJob, ...]

    @property
    def sides(self) -> list[tuple[str, list[Piece]]]:
        """The evidence, side by side."""
        titles = {Side.FOR: "Speaks for delivery", Side.AGAINST: "Speaks against it", Side.OPEN: "Leaves it open"}
        return [(title, [piece for piece in self.pieces if piece.side is side]) for side, title in titles.items()]

    @property
    def sha256(self) -> str:
        """The hash of the file that was authorized, as every tool prints it."""
        return bytes(self.job.expected_file_sha256 or b"").hex()

    @property
    def reconciled_words(self) -> SafeString | None:
        """Who settled the attempt before, when, and in which words."""
        return None if self.reconciled is None else settled_words(self.reconciled)


def docket_of(shown: ExportJob) -> Docket:
    """Read the case of an export that the console has found for this person."""
    job = find(shown.tenant_id, shown.id, ALIAS)
    assert job is not None, "no export is ever deleted"  # noqa: S101 - it was read a moment ago
    case = case_of(job, ALIAS)
    return Docket(
        job=job,
        pieces=_pieces(job),
        verdict=None if case is None else judge(case, Asker.RECONCILER),
        original_first=_original_first(job, case),
        reconciled=settled_by(job.id, job.attempt_id, EventKind.RECONCILED, ALIAS),
        corrected=settled_by(job.id, job.attempt_id, EventKind.CORRECTED, ALIAS),
        family=_family(job),
    )


def _pieces(job: ExportJob) -> tuple[Piece, ...]:
    expected = dossier.expected_of(job)
    kept = ExportAttemptEvent.objects.using(ALIAS).filter(
        job_id=job.id, attempt_id=job.attempt_id, kind=EventKind.DELIVERY_EVIDENCE
    )
    latest = list(kept.order_by("-id")[:MOST])[::-1]
    records = [(event, decode(event.detail)) for event in latest]
    return tuple(
        Piece(moment(event.recorded_at), event.observed_by or "", say(record), weigh(record, expected))
        for event, record in records
    )


def _original_first(job: ExportJob, case: Case | None) -> ExportJob | None:
    """Return the original whose own file this replacement found, while its record does not say so."""
    if job.replaces_job_id is None or case is None or facts_of(case).start is not Start.ORIGINALS:
        return None
    original = find(job.tenant_id, job.replaces_job_id, ALIAS)
    return None if original is None or original.status == Status.COMPLETED else original


def _family(job: ExportJob) -> tuple[ExportJob, ...]:
    """Return the other replacements of the same original, or an original's replacements, oldest first."""
    original = job.replaces_job_id or job.id
    others = ExportJob.objects.using(ALIAS).filter(tenant_id=job.tenant_id, replaces_job_id=original)
    return tuple(others.exclude(id=job.id).order_by("created_at")[:MOST])


def settled_words(settled: SettledBy) -> SafeString:
    """Say who settled an attempt, when, and in which words."""
    who, words = settled.by or "the acknowledgment rule", settled.words or ""
    return format_html("{} {}: {}", who, moment(settled.at).html, words)
