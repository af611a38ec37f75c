"""Rows of attempts that sent their publish request, or may have."""

from collections.abc import Iterator
from typing import Any

from exports.evidence import Proof
from exports.verdicts.boxes import (
    ABSENT,
    ACCEPTED,
    ANY_AFTERMATH,
    ANY_START,
    AS_BEFORE,
    BLIND,
    CLEAR,
    DENIED,
    FITTING,
    HASH,
    MENTIONED,
    MISMATCH,
    NO,
    NOT_ACCEPTED,
    NOTHING_SEEN,
    OPEN,
    OVERWRITING,
    REFUSED,
    SIZE,
    TAKEN,
    TELLING,
    UNANSWERED,
    UNCHANGED,
    UNDISPUTED,
    UNPROVEN,
    YES,
    Row,
    delivered,
    not_delivered,
    unknown,
)
from exports.verdicts.facts import Publishing


def accepted() -> Iterator[Row]:
    """Rows of a request that the server answered with success."""
    box: dict[str, Any] = {"publishing": ACCEPTED, "word": OPEN}
    yield from delivered(
        "accepted, hash",
        Proof.HASH,
        "the server published the file, and the hash of what stands there is ours",
        start=ANY_START - TAKEN,
        aftermath=HASH,
        **box,
    )
    yield from delivered(
        "accepted, listed",
        Proof.LISTING,
        "the server published the file under a name that was free, and it stands there with our size",
        start=CLEAR,
        aftermath=FITTING,
        **box,
    )
    yield from delivered(
        "accepted, reply is proof",
        Proof.PUBLISH_REPLY,
        "the server accepted the publish request, which the contract takes as proof",
        start=CLEAR,
        aftermath=NOTHING_SEEN,
        reply_is_proof=YES,
        **box,
    )
    yield unknown(
        "accepted, not confirmed",
        "the server accepted the publish request, but nothing confirms that the file stands there",
        start=CLEAR,
        aftermath=NOTHING_SEEN,
        reply_is_proof=NO,
        **box,
    )
    yield from delivered(
        "accepted blind, reply is proof",
        Proof.PUBLISH_REPLY,
        "the server accepted the publish request without telling more, which the contract takes as proof",
        start=BLIND,
        aftermath=NOTHING_SEEN | FITTING,
        reply_is_proof=YES,
        **box,
    )
    yield unknown(
        "accepted blind",
        "the server accepted the publish request, but without a baseline nothing shows that the file is new",
        start=BLIND,
        aftermath=NOTHING_SEEN | FITTING,
        reply_is_proof=NO,
        **box,
    )
    yield unknown(
        "accepted, another file",
        "the server accepted the publish request, but a different file stands under the final name",
        start=CLEAR | BLIND | OVERWRITING,
        aftermath=MISMATCH,
        **box,
    )
    yield unknown(
        "accepted, as before",
        "the server accepted the publish request, but the final name shows what was there before",
        start=CLEAR | BLIND,
        aftermath=AS_BEFORE,
        **box,
    )
    yield unknown(
        "overwritten without hash",
        "an overwrite is proven only by a matching hash or the partner's acknowledgment, and there is neither",
        start=OVERWRITING,
        aftermath=NOTHING_SEEN | FITTING | AS_BEFORE,
        **box,
    )
    yield unknown(
        "published onto a taken name",
        "a publish request was accepted for a name that this attempt had found taken",
        start=TAKEN,
        **box,
    )
    yield unknown(
        "accepted, but denied",
        "the partner denies a publication that its server accepted",
        publishing=ACCEPTED,
        word=DENIED,
    )


def not_accepted() -> Iterator[Row]:
    """Rows common to everything that was not answered with success."""
    yield from delivered(
        "hash without reply",
        Proof.HASH,
        "no acceptance was received, but the hash of what stands under the final name is ours",
        publishing=NOT_ACCEPTED,
        word=OPEN,
        aftermath=HASH,
        start=TELLING,
    )
    yield unknown(
        "hash, but whose",
        "a file with our content stands there, but no baseline shows that this attempt put it there",
        publishing=NOT_ACCEPTED,
        word=OPEN,
        aftermath=HASH,
        start=ANY_START - TELLING,
    )
    yield unknown(
        "hash, but denied",
        "the partner denies a publication, but a file with our content stands under the final name",
        publishing=NOT_ACCEPTED,
        word=DENIED,
        aftermath=HASH,
    )
    yield unknown(
        "nothing recorded",
        "nothing shows whether the attempt published; it may still be at work",
        publishing=frozenset({Publishing.UNRECORDED}),
        word=UNPROVEN,
        aftermath=ANY_AFTERMATH - HASH,
    )
    yield unknown(
        "error of unclear effect",
        "the publish request was answered with an error that does not prove that nothing happened",
        publishing=frozenset({Publishing.ERRED}),
        word=UNPROVEN,
        aftermath=ANY_AFTERMATH - HASH,
    )


def unanswered() -> Iterator[Row]:
    """Rows of a request whose answer is not known."""
    yield from delivered(
        "unanswered, listed",
        Proof.LISTING,
        "the publish request was sent for a name that was free, and our file stands there with its size",
        publishing=UNANSWERED,
        word=OPEN,
        aftermath=SIZE,
        start=CLEAR,
        one_step=YES,
    )
    yield unknown(
        "unanswered, perhaps partial",
        "a file of our size stands there, but this partner's files do not appear in one step",
        publishing=UNANSWERED,
        word=OPEN,
        aftermath=SIZE,
        start=CLEAR,
        one_step=NO,
    )
    yield unknown(
        "unanswered, size alone",
        "a file of our size stands there, but the baseline does not show that it is new",
        publishing=UNANSWERED,
        word=OPEN,
        aftermath=SIZE,
        start=ANY_START - CLEAR,
    )
    yield unknown(
        "unanswered, denied",
        "the partner denies a publication, but a file of our size stands under the final name",
        publishing=UNANSWERED,
        word=DENIED,
        aftermath=SIZE,
    )
    yield unknown(
        "unanswered",
        "the publish request was sent or about to be, no answer is known, and nothing identifies our file",
        publishing=UNANSWERED,
        word=UNPROVEN,
        aftermath=ANY_AFTERMATH - HASH - SIZE,
    )


def refused() -> Iterator[Row]:
    """Rows of a request refused by a status that, on a one-step form, means that nothing happened."""
    box: dict[str, Any] = {"publishing": REFUSED, "word": UNDISPUTED}
    yield not_delivered(
        "refused, still absent",
        Proof.REFUSED_AND_UNCHANGED,
        "the server refused the publish request, and a fresh look finds no file under the final name",
        aftermath=ABSENT,
        start=CLEAR | BLIND,
        consumes_at_once=NO,
        **box,
    )
    yield unknown(
        "refused, perhaps consumed",
        "the publish request was refused, but this partner takes files at once, so absence proves nothing",
        aftermath=ABSENT,
        start=CLEAR | BLIND,
        consumes_at_once=YES,
        **box,
    )
    yield unknown(
        "refused, file gone",
        "the publish request was refused, and the file that stood there before is gone",
        aftermath=ABSENT,
        start=TAKEN | OVERWRITING,
        **box,
    )
    yield not_delivered(
        "refused, as before",
        Proof.REFUSED_AND_UNCHANGED,
        "the server refused the overwrite, and the file that stood there before still does",
        aftermath=AS_BEFORE,
        start=OVERWRITING,
        **box,
    )
    yield unknown(
        "refused, unexpected file",
        "the publish request was refused, and the baseline does not explain the file that stands there",
        aftermath=AS_BEFORE,
        start=ANY_START - OVERWRITING,
        **box,
    )
    yield unknown(
        "refused, but mentioned",
        "the publish request was refused, but the partner speaks of a file that it has",
        publishing=REFUSED,
        word=MENTIONED,
        aftermath=UNCHANGED,
    )
    yield unknown(
        "refused, but a file",
        "the publish request was refused, but what stands under the final name does not prove it untouched",
        publishing=REFUSED,
        word=UNPROVEN,
        aftermath=ANY_AFTERMATH - HASH - UNCHANGED,
    )
