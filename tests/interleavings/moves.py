"""The statements that change one row under one condition: from the table of transitions, and what else they ask."""

from __future__ import annotations

from dataclasses import replace

from exports.states import TRANSITIONS, FailureReason, Role, Status
from tests.interleavings.rules import Call, Rule, View, evidence_of
from tests.interleavings.world import OURS, Job, Lease, Woken


def _of(role: Role, *origins: Status, to: frozenset[Status] | None = None) -> frozenset[tuple[Status, Status]]:
    """Return the moves the table of transitions allows this role from these statuses."""
    moves = [move for move, roles in TRANSITIONS.items() if role in roles and move[0] in origins]
    return frozenset((move[0], move[1]) for move in moves if move[0] and (to is None or move[1] in to))


def _stay(*statuses: Status) -> frozenset[tuple[Status, Status]]:
    return frozenset((status, status) for status in statuses)


def _ours(_: Job, call: Call, __: View) -> bool:
    return call.tenant == OURS


def _mine(job: Job, call: Call, _: View) -> bool:
    return job.attempt == call.attempt


def _as_evaluated(job: Job, call: Call, _: View) -> bool:
    return job.version == call.version


def _over(job: Job, _: Call, __: View) -> bool:
    return job.lease.is_over


def _asked_to_stop(job: Job, _: Call, __: View) -> bool:
    return job.stop


def _not_asked_to_stop(job: Job, _: Call, __: View) -> bool:
    return not job.stop


def _used_up(job: Job, _: Call, __: View) -> bool:
    return job.is_used_up


def _not_used_up(job: Job, _: Call, __: View) -> bool:
    return not job.is_used_up


def _an_original(job: Job, _: Call, __: View) -> bool:
    return job.original is None


def _to_an_own_enabled_destination(_: Job, call: Call, __: View) -> bool:
    return call.destination in {"first", "second"}


def _recorded_as_said(job: Job, call: Call, _: View) -> bool:
    return job.status is call.recorded


def _delivery_was_authorized(job: Job, _: Call, __: View) -> bool:
    return job.authorized


def _four_eyes(job: Job, call: Call, _: View) -> bool:
    return call.allow_same_person or job.reconciled_by != call.person


def _begins_before_delivery(_: Job, call: Call, __: View) -> bool:
    proved = {FailureReason.BUILD_FAILED, FailureReason.FINAL_NAME_OCCUPIED, FailureReason.ORIGINAL_DELIVERED}
    return call.reason in proved


def _all_evidence_was_judged(_: Job, call: Call, view: View) -> bool:
    return evidence_of(view, call.attempt) == call.judged


def _ended(job: Job, call: Call) -> Job:
    return replace(job, reason=call.reason, lease=Lease.NONE)


def _claimed(job: Job, call: Call) -> Job:
    return replace(job, attempt=call.attempt, claims=job.claims + 1, lease=Lease.CURRENT)


def _requeued(job: Job, _: Call) -> Job:
    given_back = job.given_back + (job.lease is Lease.GIVEN_BACK)
    return replace(job, attempt=None, lease=Lease.NONE, given_back=given_back, woken=Woken.JUST_NOW)


def _edited(job: Job, call: Call) -> Job:
    return replace(job, version=job.version + 1, destination=call.destination, woken=Woken.JUST_NOW)


def _reconciled(job: Job, call: Call) -> Job:
    return replace(job, reason=_why_failed(job, FailureReason.NOT_DELIVERED), reconciled_by=call.person)


def _why_failed(job: Job, reason: FailureReason | None) -> FailureReason | None:
    return reason if job.status is Status.FAILED else None


W, A, R = Role.WORKER, Role.API, Role.RECONCILER
_Q, _RUN, _DEL, _UNK = Status.QUEUED, Status.RUNNING, Status.DELIVERING, Status.OUTCOME_UNKNOWN
_SETTLED = frozenset({Status.COMPLETED, Status.FAILED})
_EXHAUSTED = FailureReason.ATTEMPTS_EXHAUSTED


def _only(to: Status) -> frozenset[Status]:
    return frozenset({to})


RULES: dict[str, Rule] = {
    "claim": Rule(W, _of(W, _Q, to=_only(_RUN)), (_as_evaluated,), _claimed),
    "reject": Rule(W, _of(W, _Q, to=_only(Status.REJECTED)), (_as_evaluated,)),
    "cancel_queued": Rule(A, _of(A, _Q), (_ours,)),
    "request_stop": Rule(A, _stay(_RUN), (_ours, _not_asked_to_stop), lambda job, _: replace(job, stop=True)),
    "change_terms": Rule(A, _stay(_Q), (_ours, _as_evaluated, _an_original, _to_an_own_enabled_destination), _edited),
    "finish_failed": Rule(W, _of(W, _RUN, to=_only(Status.FAILED)), (_mine, _begins_before_delivery), _ended),
    "finish_stopped": Rule(
        W,
        _of(W, _RUN, to=_only(Status.STOPPED)),
        (_mine, _asked_to_stop),
        lambda job, _: replace(job, lease=Lease.NONE),
    ),
    "finish_delivery": Rule(W, _of(W, _DEL), (_mine,), _ended, chosen=True),
    "renew_lease": Rule(W, _stay(_RUN, _DEL), (_mine,), lambda job, _: replace(job, lease=Lease.CURRENT)),
    "return_lease": Rule(W, _stay(_RUN), (_mine,), lambda job, _: replace(job, lease=Lease.GIVEN_BACK)),
    "requeue": Rule(W, _of(W, _RUN, to=_only(_Q)), (_mine, _not_asked_to_stop), _requeued, later=(_over, _not_used_up)),
    "exhaust": Rule(
        W,
        _of(W, _RUN, to=_only(Status.FAILED)),
        (_mine, _not_asked_to_stop),
        lambda job, _: replace(job, reason=_EXHAUSTED, lease=Lease.NONE),
        later=(_over, _used_up),
    ),
    "stop_expired": Rule(
        W,
        _of(W, _RUN, to=_only(Status.STOPPED)),
        (_mine, _over, _asked_to_stop),
        lambda job, _: replace(job, lease=Lease.NONE),
    ),
    "resolve": Rule(
        W,
        _of(W, _DEL, to=frozenset({Status.COMPLETED, _UNK})),
        (_mine, _over),
        lambda job, _: replace(job, lease=Lease.NONE),
        chosen=True,
    ),
    "reconcile": Rule(R, _of(R, _UNK), (_ours, _mine), _reconciled, chosen=True),
    "complete_acknowledged": Rule(
        Role.ACKNOWLEDGER,
        _of(Role.ACKNOWLEDGER, _UNK),
        (_ours, _mine, _all_evidence_was_judged),
        lambda job, call: replace(job, reconciled_by=call.person),
    ),
    "correct": Rule(
        R,
        _of(R, *_SETTLED),
        (_ours, _mine, _recorded_as_said, _delivery_was_authorized, _four_eyes),
        lambda job, call: replace(job, reason=_why_failed(job, call.reason), corrected=True),
        chosen=True,
    ),
}
