"""Which rows a statement is about, whether or not it gets to lock them: two that share none cannot meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.interleavings.special import LOOKS, acknowledgment_of, slot_of
from tests.interleavings.world import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.interleavings.rules import Call

_ELSEWHERE: dict[str, Callable[[Call], set[str]]] = {
    "lock_gate": lambda call: {f"gate of {call.destination}"},
    "open_hold": lambda call: {f"hold of {call.destination}"},
    "take_outbox": lambda call: {call.message},
    "mark_published": lambda call: {call.message},
    "create_export": lambda call: {f"id {call.new}", f"key {call.key}"},
    **dict.fromkeys(LOOKS, lambda _: set()),
}
"""Statements that are about no existing export."""


def about(statement: str, call: Call, rows: Mapping[str, Any]) -> set[str]:
    """Return the rows, index entries and locks this statement may wait for or change."""
    if statement in _ELSEWHERE:
        return _ELSEWHERE[statement](call)
    found = {call.target}
    if statement == "record_cancellation":
        found.add(f"click {call.request}")
    if statement == "collect_acknowledgment":
        found.add(acknowledgment_of(call))
    if statement == "create_replacement":
        found.add(slot_of(call.target))
    job = rows.get(call.target)
    if isinstance(job, Job) and job.original:
        found |= {slot_of(job.original)} | ({job.original} if statement == "authorize_delivery" else set())
    return found
