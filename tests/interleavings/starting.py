"""The states from which schedules start: each statement's homes, and what looks like one but is not."""

from __future__ import annotations

from dataclasses import dataclass

from exports.states import EventKind, FailureReason, Status
from tests.interleavings.world import (
    BERT,
    HOLD,
    MAX_ATTEMPTS,
    ORIGINAL,
    REPLACEMENT,
    SIBLING,
    Hold,
    Job,
    Lease,
    Past,
    Woken,
    message_of,
)


@dataclass(frozen=True, slots=True)
class Family:
    """An original and perhaps one more: the rows that one schedule is about."""

    name: str
    original: Past
    other: Past | None = None
    """Its replacement, or a sibling at the same destination."""
    hold: Hold = Hold.NONE

    @property
    def subject(self) -> Past:
        """The export the family is named for: the replacement, where there is one."""
        return self.other or self.original

    @property
    def jobs(self) -> dict[str, Job]:
        """Every export by its name."""
        return {past.job.name: past.job for past in self.pasts}

    @property
    def rows(self) -> dict[str, object]:
        """Everything a schedule starts from, by the names under which rules and transactions know it."""
        evidence = (
            f"evidence of {event.attempt}: {number}"
            for past in self.pasts
            for number, event in enumerate(past.events)
            if event.kind is EventKind.DELIVERY_EVIDENCE
        )
        others = {HOLD: self.hold, message_of(ORIGINAL, 0): self.original.is_published}
        return {**self.jobs, **others, **dict.fromkeys(evidence, True)}

    @property
    def pasts(self) -> tuple[Past, ...]:
        """The original's past, then the other's."""
        return (self.original,) if self.other is None else (self.original, self.other)


def _after_many(past: Past, attempts: int) -> Past:
    """Claimed and given back again and again, and running once more."""
    for _ in range(attempts):
        past = past.claimed().requeued(given_back=True)
    return past.claimed()


BORN = Past()
NEGLECTED = BORN.changed(woken=Woken.LONG_AGO)
RUNNING = BORN.claimed()
AGAIN = RUNNING.requeued().claimed()
AGAIN_FOR_FREE = RUNNING.requeued(given_back=True).claimed()
DELIVERING = RUNNING.authorized()
UNKNOWN = DELIVERING.observed("worker-0").finished(Status.OUTCOME_UNKNOWN)
COMPLETED = DELIVERING.finished(Status.COMPLETED)
NOT_DELIVERED = DELIVERING.finished(Status.FAILED, FailureReason.NOT_DELIVERED)

_SINGLE = {
    "queued": BORN.changed(),
    "queued, not published": Past(is_published=False),
    "queued, not woken for long": NEGLECTED,
    "queued, edited": BORN.edited(),
    "queued again": RUNNING.requeued(),
    "queued again, not woken for long": RUNNING.requeued().changed(woken=Woken.LONG_AGO),
    "running": RUNNING,
    "running, not woken for long": RUNNING.changed(woken=Woken.LONG_AGO),
    "running, lapsed": RUNNING.lapsed(),
    "running, given back": RUNNING.changed(lease=Lease.GIVEN_BACK),
    "running, asked to stop": RUNNING.asked_to_stop(),
    "running, lapsed, asked to stop": RUNNING.lapsed().asked_to_stop(),
    "running, given back, asked to stop": RUNNING.changed(lease=Lease.GIVEN_BACK).asked_to_stop(),
    "running again": AGAIN,
    "running again, lapsed": AGAIN.lapsed(),
    "running again, given back": AGAIN.changed(lease=Lease.GIVEN_BACK),
    "running again, asked to stop": AGAIN.asked_to_stop(),
    "running again, lapsed, asked to stop": AGAIN.lapsed().asked_to_stop(),
    "running again, the first given back": AGAIN_FOR_FREE,
    "running again, the first given back, lapsed": AGAIN_FOR_FREE.lapsed(),
    "running, given back too often, lapsed": _after_many(BORN, 10 * MAX_ATTEMPTS - 1).lapsed(),
    "delivering": DELIVERING,
    "delivering, lapsed": DELIVERING.lapsed(),
    "delivering again": AGAIN.authorized(),
    "delivering again, lapsed": AGAIN.authorized().lapsed(),
    "unknown": UNKNOWN,
    "unknown, resolved": DELIVERING.lapsed().resolved(Status.OUTCOME_UNKNOWN),
    "unknown again": AGAIN.authorized().finished(Status.OUTCOME_UNKNOWN),
    "unknown again, the first observed too": (
        RUNNING.observed(BERT).requeued().claimed().authorized().finished(Status.OUTCOME_UNKNOWN)
    ),
    "completed": COMPLETED,
    "completed, settled": UNKNOWN.reconciled(Status.COMPLETED),
    "completed, settled, observed by another": UNKNOWN.observed(BERT).reconciled(Status.COMPLETED),
    "completed again": AGAIN.authorized().finished(Status.COMPLETED),
    "completed, corrected": NOT_DELIVERED.corrected(Status.COMPLETED),
    "not delivered": NOT_DELIVERED,
    "not delivered, settled": UNKNOWN.reconciled(Status.FAILED, FailureReason.NOT_DELIVERED),
    "name occupied": DELIVERING.finished(Status.FAILED, FailureReason.FINAL_NAME_OCCUPIED),
    "build failed": RUNNING.failed(FailureReason.BUILD_FAILED),
    "attempts exhausted": AGAIN.lapsed().exhausted(),
    "stopped": RUNNING.asked_to_stop().stopped(),
    "canceled": BORN.canceled(),
    "rejected": BORN.rejected(),
}

_COPY = Past(job=Job(name=REPLACEMENT, original=ORIGINAL))
_COPY_RUNNING = _COPY.claimed()
_COPY_DELIVERING = _COPY_RUNNING.authorized()
_COPY_DONE = {
    "queued": _COPY.changed(),
    "queued, not woken for long": _COPY.changed(woken=Woken.LONG_AGO),
    "running": _COPY_RUNNING,
    "running, lapsed": _COPY_RUNNING.lapsed(),
    "running, asked to stop": _COPY_RUNNING.asked_to_stop(),
    "running again": _COPY_RUNNING.requeued().claimed(),
    "delivering": _COPY_DELIVERING,
    "delivering, lapsed": _COPY_DELIVERING.lapsed(),
    "unknown": _COPY_DELIVERING.finished(Status.OUTCOME_UNKNOWN),
    "completed": _COPY_DELIVERING.finished(Status.COMPLETED),
    "not delivered": _COPY_DELIVERING.finished(Status.FAILED, FailureReason.NOT_DELIVERED),
    "original delivered": _COPY_RUNNING.failed(FailureReason.ORIGINAL_DELIVERED),
    "build failed": _COPY_RUNNING.failed(FailureReason.BUILD_FAILED),
    "canceled": _COPY.canceled(),
}
_BEHIND = {
    "an original not delivered": NOT_DELIVERED,
    "a corrected original": NOT_DELIVERED.corrected(Status.COMPLETED),
}
_COPIES = [
    *(Family(f"replacement of an unknown original: {name}", UNKNOWN, past) for name, past in _COPY_DONE.items()),
    *(
        Family(f"replacement of {behind}: {name}", original, _COPY_DONE[name])
        for behind, original in _BEHIND.items()
        for name in ("queued", "running")
    ),
]

_HELD = {
    "queued, its destination paused": (NEGLECTED, Hold.PAUSED),
    "queued, its destination full": (NEGLECTED, Hold.CAP),
    "queued, its tenant paused": (NEGLECTED, Hold.TENANT),
    "queued, another destination paused": (NEGLECTED, Hold.OTHER_DESTINATION),
    "queued, another tenant paused": (NEGLECTED, Hold.OTHER_TENANT),
    "queued, another export guarded": (NEGLECTED, Hold.OTHER_GUARDED),
    "queued, guarded": (NEGLECTED, Hold.GUARDED),
    "queued, guarded in another version": (NEGLECTED, Hold.GUARDED_BEFORE),
    "queued, paused for an hour": (NEGLECTED, Hold.FOR_AN_HOUR),
    "queued, a pause over": (NEGLECTED, Hold.OVER),
    "queued, a pause ended": (NEGLECTED, Hold.ENDED),
    "queued, everything frozen": (NEGLECTED, Hold.FROZEN),
    "running, everything frozen": (RUNNING, Hold.FROZEN),
    "running, lapsed, everything frozen": (RUNNING.lapsed(), Hold.FROZEN),
}
_SIBLING = Past(job=Job(name=SIBLING, woken=Woken.LONG_AGO))
FAMILIES = {
    family.name: family
    for family in (
        *(Family(name, past) for name, past in _SINGLE.items()),
        *(Family(name, past, hold=hold) for name, (past, hold) in _HELD.items()),
        Family("two queued at one destination", BORN, _SIBLING),
        *_COPIES,
    )
}
"""Every starting state by its name."""

LAPSING = {
    "running": Family("running, about to lapse", RUNNING.changed(lease=Lease.LAPSING)),
    "replacement": Family("replacement running, about to lapse", UNKNOWN, _COPY_RUNNING.changed(lease=Lease.LAPSING)),
}
"""States for schedules in which time matters."""

SOLO_ONLY = frozenset(
    {
        "queued, edited",
        "running, not woken for long",
        "running, given back, asked to stop",
        "running again, asked to stop",
        "running again, lapsed, asked to stop",
        "running again, the first given back",
        "running, given back too often, lapsed",
        "delivering again",
        "delivering again, lapsed",
        "unknown, resolved",
        "unknown again",
        "unknown again, the first observed too",
        "completed, settled, observed by another",
        "completed again",
        *_HELD,
    }
)
"""States in which each action is tried alone: in company they differ from no other in what is waited for."""

_TAKEOVERS = frozenset({"requeue", "exhaust"})
_WAKING = frozenset({"sweep", "wake_waiting"})
ONLY_FOR = {
    "queued, not published": frozenset({"dispatch"}),
    "queued, not woken for long": _WAKING,
    "queued again, not woken for long": _WAKING,
    "running, given back": _TAKEOVERS,
    "running again": _TAKEOVERS,
    "running again, given back": _TAKEOVERS,
    "running again, the first given back, lapsed": _TAKEOVERS,
    "completed, settled": frozenset({"correct"}),
    "not delivered, settled": frozenset({"correct"}),
}
"""States that differ from another only for these programs: pairs with one of them are run."""
