"""The statements that concern more than one row, pass over held ones, or only read, add or lock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exports.states import REPLACEABLE_FAILURES, Authorization, Role, Status
from tests.interleavings.moves import RULES
from tests.interleavings.rules import (
    APPLIED,
    MISSING,
    REFUSED,
    SEEN,
    TAKEN,
    Call,
    Change,
    Expected,
    Lock,
    Mode,
    Rule,
    View,
    slot_holder,
)
from tests.interleavings.world import HOLD, OURS, Hold, Job, Woken

if TYPE_CHECKING:
    from collections.abc import Callable


def slot_of(original: str | None) -> str:
    """Return the name of an original's entry in the index that allows one replacement."""
    return f"the slot of {original}"


class Correct(Rule):
    """A correction, which a unique index lets happen once, and which may need its original's slot back."""

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Wait for the row, and for whoever changes the slot it moves into."""
        job = view.job(call.target)
        locks = super().wants(view, call)
        moves_in = job.original is not None and not job.holds_the_slot and call.to is Status.COMPLETED
        return [*locks, Lock(slot_of(job.original), Mode.INSERT)] if locks and moves_in else locks

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Change the record once; a second time is a unique violation."""
        answer, changes = super().does(view, call)
        return (TAKEN, {}) if answer == APPLIED and view.job(call.target).corrected else (answer, changes)


@dataclass(frozen=True)
class Authorize:
    """Cutoff 2: the row first, then its original, then the decision."""

    role: Role = Role.WORKER

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Wait for the row whatever it says, and for the original of a replacement."""
        original = view.job(call.target).original
        return [Lock(call.target, Mode.CHANGE), *([Lock(original, Mode.SHARE)] if original else [])]

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Answer one word, from the rows as they are held."""
        job = view.job(call.target)
        word = self._word(job, view, call)
        authorized = replace(job, status=Status.DELIVERING, authorized=True)
        return word.value, {job.name: authorized} if word is Authorization.AUTHORIZED else {}

    def _word(self, job: Job, view: View, call: Call) -> Authorization:
        if job.attempt != call.attempt or job.status is not Status.RUNNING:
            return Authorization.NOT_OWNER
        if job.stop:
            return Authorization.STOP_RECORDED
        if job.original and view.job(job.original).status is Status.COMPLETED:
            return Authorization.ORIGINAL_COMPLETED
        if view.rows[HOLD] is Hold.FROZEN:
            return Authorization.FROZEN
        return Authorization.LEASE_LAPSED if job.lease.is_over else Authorization.AUTHORIZED


@dataclass(frozen=True)
class AppendEvidence:
    """Evidence: whoever owns the row, and whoever holds it."""

    role: Role = Role.WORKER

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Wait for nothing but the row's disappearance, as every foreign key does."""
        return [Lock(call.target, Mode.KEY_SHARE)] if self._is_known(view, call) else []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Add to the history, change no row."""
        return (APPLIED, evidence_by(call)) if self._is_known(view, call) else (REFUSED, {})

    def _is_known(self, view: View, call: Call) -> bool:
        job = view.job(call.target)
        return call.attempt in {f"{job.name}.{number + 1}" for number in range(job.claims)}


def evidence_by(call: Call) -> Change:
    """Return one more piece of evidence."""
    return {f"evidence of {call.attempt}: {call.evidence}": True}


@dataclass(frozen=True)
class CollectAcknowledgment:
    """Evidence that is collected once, of an attempt that was authorized."""

    role: Role = Role.ACKNOWLEDGER

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Wait for another collector of the same acknowledgment."""
        if not self._was_authorized(view, call):
            return []
        return [Lock(acknowledgment_of(call), Mode.INSERT), Lock(call.target, Mode.KEY_SHARE)]

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Add to the history what was not seen before."""
        if not self._was_authorized(view, call) or acknowledgment_of(call) in view.rows:
            return REFUSED, {}
        return APPLIED, {acknowledgment_of(call): True, **evidence_by(call)}

    def _was_authorized(self, view: View, call: Call) -> bool:
        job = view.job(call.target)
        return job.authorized and job.attempt == call.attempt


def acknowledgment_of(call: Call) -> str:
    """Return the name of the entry under which an acknowledgment is seen once."""
    return f"acknowledgment of {call.attempt}"


@dataclass(frozen=True)
class LockForCancellation:
    """The locking read of a click."""

    role: Role = Role.API

    def wants(self, _: View, call: Call) -> list[Lock]:
        """Wait for the tenant's row, whatever it says."""
        return [Lock(call.target, Mode.CHANGE)] if call.tenant == OURS else []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Say what was found, and hold it."""
        job = view.job(call.target)
        if call.tenant != OURS:
            return MISSING, {}
        return f"Found {job.status}{' asked to stop' if job.stop else ''}", {job.name: job}


@dataclass(frozen=True)
class RecordCancellation:
    """The record of a click, under an id that a tenant uses once."""

    role: Role = Role.API

    def wants(self, _: View, call: Call) -> list[Lock]:
        """Wait for another click with the same id."""
        return [Lock(f"click {call.request}", Mode.INSERT)]

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Add the record, or find the id taken."""
        name = f"click {call.request}"
        return (TAKEN, {}) if name in view.rows else (APPLIED, {name: True})


@dataclass(frozen=True)
class CreateExport:
    """A birth, under an id and a key that exist once."""

    role: Role = Role.API

    def wants(self, _: View, call: Call) -> list[Lock]:
        """Wait for another birth with the same id or key."""
        return [Lock(f"id {call.new}", Mode.INSERT), Lock(f"key {call.key}", Mode.INSERT)]

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Add the export, or find its id or its key taken."""
        names = {f"id {call.new}", f"key {call.key}"}
        return (TAKEN, {}) if names & view.rows.keys() else (APPLIED, dict.fromkeys(names, True))


@dataclass(frozen=True)
class CreateReplacement:
    """The birth of a replacement: its original first, then the original's slot."""

    role: Role = Role.API

    def wants(self, view: View, call: Call) -> list[Lock]:
        """Wait for the original if it may be replaced, then for whoever changes its slot."""
        if not self._may_be_replaced(view, call):
            return []
        return [Lock(call.target, Mode.CHANGE), Lock(slot_of(call.target), Mode.INSERT)]

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Add a queued replacement, refuse, or find the slot taken."""
        if not self._may_be_replaced(view, call):
            return REFUSED, {}
        if slot_holder(view, call.target) is not None:
            return TAKEN, {}
        destination = view.job(call.target).destination
        return APPLIED, {call.new: Job(name=call.new, original=call.target, destination=destination)}

    def _may_be_replaced(self, view: View, call: Call) -> bool:
        job = view.job(call.target)
        proves_nothing = job.status is Status.FAILED and job.reason in REPLACEABLE_FAILURES
        right_kind = job.original is None and call.tenant == OURS
        return right_kind and (job.status is Status.OUTCOME_UNKNOWN or proves_nothing)


_KEEPS_NOBODY = frozenset(
    {
        Hold.NONE,
        Hold.OTHER_DESTINATION,
        Hold.OTHER_TENANT,
        Hold.OTHER_GUARDED,
        Hold.GUARDED_BEFORE,
        Hold.ENDED,
        Hold.OVER,
    }
)


@dataclass(frozen=True)
class Sweep:
    """The sweeper: a row that is due and not held."""

    role: Role = Role.WORKER

    def wants(self, _: View, __: Call) -> list[Lock]:
        """Wait for nothing."""
        return []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Wake the export if it is due; pass it over if somebody holds it."""
        job = view.job(call.target)
        due = job.status is Status.QUEUED and job.woken is Woken.LONG_AGO and view.rows[HOLD] in _KEEPS_NOBODY
        if not due or job.name in view.held:
            return REFUSED, {}
        return APPLIED, {job.name: replace(job, woken=Woken.JUST_NOW, sweeps=job.sweeps + 1)}


@dataclass(frozen=True)
class WakeWaiting:
    """The waker: a row that waits under no hold any more, and that nobody holds."""

    role: Role = Role.WORKER

    def wants(self, _: View, __: Call) -> list[Lock]:
        """Wait for nothing."""
        return []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Wake the export, or pass it over."""
        job = view.job(call.target)
        waits = job.status is Status.QUEUED and job.woken is not Woken.JUST_NOW and job.destination == call.destination
        free = view.rows[HOLD] in _KEEPS_NOBODY | {Hold.CAP}  # a full destination's exports are its waker's to feed
        if not waits or not free or job.name in view.held:
            return REFUSED, {}
        return APPLIED, {job.name: replace(job, woken=Woken.JUST_NOW)}


@dataclass(frozen=True)
class LockGate:
    """A destination's gate: one transaction at a time."""

    role: Role = Role.WORKER

    def wants(self, _: View, call: Call) -> list[Lock]:
        """Wait for whoever counts the same destination's slots."""
        return [Lock(f"gate of {call.destination}", Mode.CHANGE)]

    def does(self, _: View, __: Call) -> tuple[str, Change]:
        """Hold the gate."""
        return APPLIED, {}


@dataclass(frozen=True)
class OpenHold:
    """The record of a full destination, once however many find it full."""

    role: Role = Role.WORKER

    def wants(self, _: View, call: Call) -> list[Lock]:
        """Wait for whoever records the same."""
        return [Lock(f"hold of {call.destination}", Mode.INSERT)]

    def does(self, _: View, call: Call) -> tuple[str, Change]:
        """Record it, or prolong what is recorded."""
        return APPLIED, {f"hold of {call.destination}": True}


@dataclass(frozen=True)
class TakeOutbox:
    """A dispatcher's batch: unpublished wake-ups that no other dispatcher holds."""

    role: Role = Role.DISPATCHER

    def wants(self, _: View, __: Call) -> list[Lock]:
        """Wait for nothing."""
        return []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Hold the wake-up, or pass it over."""
        free = not view.rows[call.message] and call.message not in view.held
        return (APPLIED, {call.message: False}) if free else (REFUSED, {})


@dataclass(frozen=True)
class MarkPublished:
    """The mark on what was taken."""

    role: Role = Role.DISPATCHER

    def wants(self, _: View, call: Call) -> list[Lock]:
        """Wait for nobody: the row is held already."""
        return [Lock(call.message, Mode.CHANGE)]

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Mark what is not marked yet."""
        return (REFUSED, {}) if view.rows[call.message] else (APPLIED, {call.message: True})


@dataclass(frozen=True)
class Look:
    """A read between two writes: what it finds decides what comes next."""

    finds: Callable[[View, Call], bool]
    role: Role = Role.WORKER

    def wants(self, _: View, __: Call) -> list[Lock]:
        """Wait for nothing."""
        return []

    def does(self, view: View, call: Call) -> tuple[str, Change]:
        """Say whether there is something, and change nothing."""
        return (SEEN if self.finds(view, call) else MISSING), {}


def _has_been_clicked(view: View, call: Call) -> bool:
    return f"click {call.request}" in view.rows


def _is_full(view: View, call: Call) -> bool:
    jobs = [row for row in view.rows.values() if isinstance(row, Job)]
    live = {Status.RUNNING, Status.DELIVERING}
    return any(job.status in live and job.destination == call.destination for job in jobs)


LOOKS: dict[str, Expected] = {"look up the click": Look(_has_been_clicked), "count the slots": Look(_is_full)}
"""What is read between writes; no statement of the registry."""

_corrections = RULES["correct"]
EXPECTED: dict[str, Expected] = {
    **RULES,
    "correct": Correct(_corrections.role, _corrections.moves, _corrections.asks, _corrections.sets, chosen=True),
    "authorize_delivery": Authorize(),
    "append_evidence": AppendEvidence(),
    "collect_acknowledgment": CollectAcknowledgment(),
    "lock_for_cancellation": LockForCancellation(),
    "record_cancellation": RecordCancellation(),
    "create_export": CreateExport(),
    "create_replacement": CreateReplacement(),
    "sweep": Sweep(),
    "wake_waiting": WakeWaiting(),
    "lock_gate": LockGate(),
    "open_hold": OpenHold(),
    "take_outbox": TakeOutbox(),
    "mark_published": MarkPublished(),
    **LOOKS,
}
"""What is expected of every statement of the registry, and of every look."""
