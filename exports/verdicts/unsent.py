"""Rows decided by the partner's own word, or by an attempt that sent no publish request."""

from collections.abc import Iterator
from typing import Any

from exports.evidence import Conclusion, Proof
from exports.verdicts.boxes import (
    ACCEPTED,
    ANY_AFTERMATH,
    ANY_START,
    FITTING,
    FOR_GOOD,
    HASH,
    MAYBE_SENT,
    MISMATCH,
    NO,
    NO_RECEIPT,
    NOT_ACCEPTED,
    TAKEN,
    UNSENT,
    YES,
    Row,
    completed,
    not_delivered,
    unknown,
    words,
)
from exports.verdicts.facts import PartnerWord, Start


def partners_word() -> Iterator[Row]:
    """Rows in which the partner's own word decides."""
    yield unknown(
        "contradictory word",
        "what the partner has said contradicts itself",
        word=words(PartnerWord.CONTRADICTORY),
    )
    yield unknown(
        "rejected",
        "the partner acknowledged the file with a rejection; a person must settle what that means",
        word=words(PartnerWord.REJECTED),
    )
    yield completed(
        "acknowledged",
        Proof.ACKNOWLEDGMENT,
        "the partner acknowledged this attempt's file as the contract provides",
        word=words(PartnerWord.ACKNOWLEDGED),
        publishing=MAYBE_SENT,
    )
    yield unknown(
        "receipt of a file never sent",
        "the partner reports a file that this attempt recorded it never published",
        word=words(PartnerWord.ACKNOWLEDGED, PartnerWord.STATED, PartnerWord.MENTIONED),
        publishing=UNSENT,
    )
    yield completed(
        "stated",
        Proof.STATEMENT,
        "the partner states that it has a file which is identified as this attempt's",
        word=words(PartnerWord.STATED),
        publishing=MAYBE_SENT,
        aftermath=ANY_AFTERMATH - MISMATCH,
    )
    yield unknown(
        "stated, but another file",
        "the partner states that it has the file, but a different one stands under the final name",
        word=words(PartnerWord.STATED),
        publishing=MAYBE_SENT,
        aftermath=MISMATCH,
    )


def denied_for_good() -> Iterator[Row]:
    """Rows of a partner that confirms that nothing was published and nothing can be any more."""
    seen = HASH | FITTING | MISMATCH
    yield unknown(
        "denied, but a file",
        "the partner denies a publication, but a file that may be ours stands under the final name",
        word=FOR_GOOD,
        publishing=MAYBE_SENT,
        aftermath=seen,
    )
    yield unknown(
        "denied, but accepted",
        "the partner denies a publication that its server accepted, under a contract that takes this as proof",
        word=FOR_GOOD,
        publishing=ACCEPTED,
        aftermath=ANY_AFTERMATH - seen,
        reply_is_proof=YES,
    )
    yield not_delivered(
        "denied for good, accepted",
        Proof.STATEMENT,
        "the partner confirms that nothing was published, and this attempt's access can publish no more",
        word=FOR_GOOD,
        publishing=ACCEPTED,
        aftermath=ANY_AFTERMATH - seen,
        reply_is_proof=NO,
    )
    yield not_delivered(
        "denied for good",
        Proof.STATEMENT,
        "the partner confirms that nothing was published, and this attempt's access can publish no more",
        word=FOR_GOOD,
        publishing=NOT_ACCEPTED,
        aftermath=ANY_AFTERMATH - seen,
    )


def never_sent() -> Iterator[Row]:
    """Rows of an attempt that recorded its own end before its publish request."""
    box: dict[str, Any] = {"publishing": UNSENT, "word": NO_RECEIPT}
    yield unknown(
        "never sent, but our hash",
        "the attempt recorded that it published nothing, yet a file with its exact content is there",
        aftermath=HASH,
        **box,
    )
    box["aftermath"] = ANY_AFTERMATH - HASH
    yield Row(
        "original found",
        Conclusion.ORIGINAL_DELIVERED,
        Proof.BASELINE,
        "the file of the original was found delivered before anything was sent",
        start=frozenset({Start.ORIGINALS}),
        **box,
    )
    yield Row(
        "occupied",
        Conclusion.FINAL_NAME_OCCUPIED,
        Proof.BASELINE,
        "a file already stood under the final name, so nothing was sent",
        start=frozenset({Start.OCCUPIED}),
        **box,
    )
    yield not_delivered(
        "never sent",
        Proof.NEVER_SENT,
        "the attempt ended before it sent the request that publishes the file",
        start=ANY_START - TAKEN,
        **box,
    )
