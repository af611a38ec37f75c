"""Which statements cannot meet: started one while the other is not committed, both about one row; and why not."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from exports.sql import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

Meeting = tuple[str, str]
"""The statement that was executed first, and the one that is started before the first is committed."""

_ALL = frozenset(STATEMENTS)
_OUTBOX = frozenset({"take_outbox", "mark_published"})
_CLICKS = frozenset({"cancel_queued", "request_stop", "record_cancellation"})
_OF_ONE_EXPORT = _ALL - _OUTBOX - {"create_export", "lock_gate", "open_hold"}
_EVIDENCE = frozenset({"append_evidence", "collect_acknowledgment"})


def _apart(some: Iterable[str], others: Iterable[str]) -> set[Meeting]:
    return set(product(some, others)) | set(product(others, some))


REASONS: dict[str, set[Meeting]] = {
    "nobody else knows of an export before its birth is committed": _apart({"create_export"}, _ALL - {"create_export"}),
    "the gate is a lock of its own, not a row": _apart({"lock_gate"}, _ALL - {"lock_gate"}),
    "a hold is a row of its own, which no statement about an export locks": _apart({"open_hold"}, _ALL - {"open_hold"}),
    "a wake-up is only ever added by others, and seen once that is committed": _apart(_OUTBOX, _ALL - _OUTBOX),
    "a wake-up is marked under the lock that took it": {(first, "mark_published") for first in _OUTBOX},
    "the rest of a click runs under its locking read, which waits for whoever holds the row": {
        *product(_OF_ONE_EXPORT - _EVIDENCE - {"create_replacement", "record_cancellation"}, _CLICKS),
        *product({"record_cancellation"}, _CLICKS - {"record_cancellation"}),
    },
    "an acknowledgment is of an export past cutoff 2, which no click changes": set(
        product({"collect_acknowledgment"}, _CLICKS - {"record_cancellation"})
    ),
    "a replacement that a click changes has the slot, so that none is created beside it": set(
        product({"create_replacement"}, _CLICKS - {"record_cancellation"})
    ),
}


def every_meeting() -> set[Meeting]:
    """Return every two statements of the registry, in both orders."""
    return set(product(_ALL, _ALL))


def impossible() -> set[Meeting]:
    """Return the meetings that have a reason not to happen."""
    return set().union(*REASONS.values())
