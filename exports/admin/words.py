"""What a status says to a person, with a mark so that nothing depends on colour alone.

The sentences say what is known and no more: a request to stop is not a stop, delivered is not processed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from django.utils.html import format_html

from exports.admin.formats import ago
from exports.evidence import Proof
from exports.states import FailureReason, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.utils.safestring import SafeString

    from exports.models import CancellationRequest, ExportJob
    from exports.queries.holds import Held


@dataclass(frozen=True, slots=True)
class Words:
    """A mark, its tone (a class of the style sheet) and the sentence, which may hold times as HTML."""

    mark: str
    tone: str
    text: str

    @property
    def html(self) -> SafeString:
        """Mark and sentence, for a page."""
        return format_html(
            '<span class="status {}"><span class="mark" aria-hidden="true">{}</span> {}</span>',
            self.tone,
            self.mark,
            self.text,
        )


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the row: the hold, the first stop request, reasons, proof and the last sighting."""

    held: Held | None = None
    stop: CancellationRequest | None = None
    reasons: tuple[str, ...] = ()
    proof: Proof | None = None
    last_seen: str = ""


FAILURES: Mapping[FailureReason, str] = {
    FailureReason.BUILD_FAILED: "the file could not be built. Nothing was sent.",
    FailureReason.ATTEMPTS_EXHAUSTED: "its attempts are used up. No delivery was authorized; nothing was sent.",
    FailureReason.NOT_DELIVERED: "it was not delivered. Nothing was written under the final name.",
    FailureReason.FINAL_NAME_OCCUPIED: (
        "a file that is not known to be this one already had the final name. This export wrote nothing there."
    ),
    FailureReason.ORIGINAL_DELIVERED: ("the original had been delivered after all. This replacement sent nothing."),
}

PROOFS: Mapping[Proof, str] = {
    Proof.HASH: "the file at the partner has the same hash",
    Proof.ACKNOWLEDGMENT: "the partner acknowledged it",
    Proof.STATEMENT: "the partner said so to a person here",
    Proof.LISTING: "the partner's listing shows it",
    Proof.NAME_AND_SIZE: "name and size match, which this contract accepts",
    Proof.PUBLISH_REPLY: "the partner's server confirmed the final name",
    Proof.NEVER_SENT: "the request was never sent",
    Proof.REFUSED_AND_UNCHANGED: "the request was refused and nothing changed",
    Proof.BASELINE: "it was there before the upload",
    Proof.NONE: "nothing proves it",
}


def words_of(job: ExportJob, known: Known) -> Words:  # noqa: PLR0911 - one for each status there is
    """Return what an export's status says, given what is known beside its row."""
    status = Status(job.status)
    match status:
        case Status.QUEUED:
            return _queued(known.held)
        case Status.RUNNING:
            return _running(known.stop, stop_requested=job.stop_request_id is not None)
        case Status.DELIVERING:
            return Words("◑", "blue", "Being delivered. It can no longer be stopped.")
        case Status.COMPLETED:
            return _completed(known.proof)
        case Status.CANCELED:
            return Words("⊘", "grey", "Cancelled before it started. Nothing was sent.")
        case Status.STOPPED:
            return Words("⊘", "grey", "Stopped before delivery. Nothing was sent.")
        case Status.REJECTED:
            return Words("✕", "grey", f"Refused by policy{_listed(known.reasons)} Nothing was sent.")
        case Status.FAILED:
            return Words("✕", "red", f"Failed: {FAILURES[FailureReason(str(job.failure_reason))]}")
        case Status.OUTCOME_UNKNOWN:
            return _unknown(known.last_seen)
        case _:
            assert_never(status)


def _queued(held: Held | None) -> Words:
    if held is None:
        return Words("○", "grey", "Waiting. Nothing has been sent.")
    text = format_html("Waiting, held: {} (since {}).", held.reason.rstrip("."), ago(held.since))
    return Words("‖", "grey", text)


def _running(stop: CancellationRequest | None, *, stop_requested: bool) -> Words:
    if not stop_requested:
        return Words("◔", "blue", "Preparing the file. Nothing has been sent.")
    asked = format_html(" {} by {}", ago(stop.recorded_at), stop.requested_by) if stop else ""
    text = format_html("Asked to stop{}. It stops unless delivery is authorized first.", asked)
    return Words("◔", "amber", text)


def _completed(proof: Proof | None) -> Words:
    rests_on = f": {PROOFS[proof]}" if proof else ""
    return Words("●", "green", f"Delivered{rests_on}. (Not: processed by the partner.)")


def _unknown(last_seen: str) -> Words:
    seen = f" Last seen: {last_seen.rstrip('.')}." if last_seen else ""
    return Words("?", "amber", f"Not known whether it was delivered.{seen} A person must decide.")


def _listed(reasons: tuple[str, ...]) -> str:
    return f": {' '.join(reasons)}" if reasons else "."
