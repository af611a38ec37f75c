"""What a status says to a person: what is known and no more, with a mark beside the colour."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from exports.admin.formats import duration, moment, size
from exports.admin.words import Known, words_of
from exports.evidence import Proof
from exports.models import CancellationRequest, ExportJob
from exports.queries.holds import Held, Scope
from exports.states import FailureReason, Status

NOW = datetime(2030, 1, 31, 3, 0, tzinfo=UTC)


def told(status: Status, known: Known | None = None, **columns: Any) -> tuple[str, str, str]:
    words = words_of(ExportJob(status=status, **columns), known or Known())
    return words.mark, words.tone, words.text


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.QUEUED, ("○", "grey", "Waiting. Nothing has been sent.")),
        (Status.RUNNING, ("◔", "blue", "Preparing the file. Nothing has been sent.")),
        (Status.DELIVERING, ("◑", "blue", "Being delivered. It can no longer be stopped.")),
        (Status.COMPLETED, ("●", "green", "Delivered. (Not: processed by the partner.)")),
        (Status.CANCELED, ("⊘", "grey", "Cancelled before it started. Nothing was sent.")),
        (Status.STOPPED, ("⊘", "grey", "Stopped before delivery. Nothing was sent.")),
        (Status.REJECTED, ("✕", "grey", "Refused by policy. Nothing was sent.")),
        (Status.OUTCOME_UNKNOWN, ("?", "amber", "Not known whether it was delivered. A person must decide.")),
    ],
)
def test_a_status_has_its_mark_its_tone_and_its_sentence(status: Status, expected: tuple[str, str, str]) -> None:
    assert told(status) == expected


@pytest.mark.parametrize("reason", FailureReason)
def test_a_failure_says_what_it_was_and_whether_anything_stands_under_the_final_name(
    reason: FailureReason,
) -> None:
    mark, tone, text = told(Status.FAILED, failure_reason=reason.value)

    assert (mark, tone) == ("✕", "red")
    assert text.startswith("Failed: ")
    assert "sent" in text or "wrote nothing" in text or "Nothing was written" in text


def test_a_stop_request_is_never_called_a_stop() -> None:
    stop = CancellationRequest(requested_by="user:ann", recorded_at=NOW)

    mark, tone, text = told(Status.RUNNING, Known(stop=stop), stop_request_id=uuid.uuid4())

    assert (mark, tone) == ("◔", "amber")
    assert text.startswith("Asked to stop ")
    assert "by user:ann" in text
    assert "2030-01-31 03:00:00 UTC" in text
    assert text.endswith("It stops unless delivery is authorized first.")


def test_a_hold_says_why_and_since_when() -> None:
    held = Held(uuid.uuid4(), Scope.TENANT, "The partner moves.", "user:ann", NOW, None)

    mark, tone, text = told(Status.QUEUED, Known(held=held))

    assert (mark, tone) == ("‖", "grey")
    assert text.startswith("Waiting, held: The partner moves (since ")
    assert "2030-01-31 03:00:00 UTC" in text


def test_a_persons_words_are_shown_as_text_whatever_they_contain() -> None:
    held = Held(uuid.uuid4(), Scope.TENANT, "<b>&", "user:<i>", NOW, None)

    assert "&lt;b&gt;&amp;" in words_of(ExportJob(status=Status.QUEUED), Known(held=held)).html


@pytest.mark.parametrize("proof", Proof)
def test_delivered_names_the_kind_of_evidence_it_rests_on(proof: Proof) -> None:
    _, _, text = told(Status.COMPLETED, Known(proof=proof))

    assert text.startswith("Delivered: ")
    assert text.endswith("(Not: processed by the partner.)")


def test_a_refusal_names_policys_reasons() -> None:
    _, _, text = told(Status.REJECTED, Known(reasons=("The destination is disabled.",)))

    assert text == "Refused by policy: The destination is disabled. Nothing was sent."


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "under 1 s"),
        (0.4, "under 1 s"),
        (59, "59 s"),
        (200, "3 min 20 s"),
        (7_260, "2 h 1 min"),
        (90_061, "1 d 1 h"),
    ],
)
def test_a_duration_has_two_units_and_is_never_negative(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(60, "1 min ago"), (0, "just now"), (-0.5, "just now"), (-120, "in 2 min")]
)
def test_a_clock_that_is_slightly_ahead_is_no_trip_to_the_future(seconds: float, words: str) -> None:
    assert moment(NOW - timedelta(seconds=seconds), NOW).relative == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 KB (1,000 bytes)"),
        (999_999, "1000.0 KB (999,999 bytes)"),
        (5_123_456, "5.1 MB (5,123,456 bytes)"),
        (7_000_000_000_000_000, "7000.0 TB (7,000,000,000,000,000 bytes)"),
    ],
)
def test_a_size_is_given_in_a_unit_that_fits_and_exactly(count: int, words: str) -> None:
    assert size(count) == words
