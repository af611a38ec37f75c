"""What can be done to the exports of a family: by those it is for, and by those it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exports.states import EventKind, FailureReason, Status
from tests.interleavings.acting import Action
from tests.interleavings.rules import Call
from tests.interleavings.seeding import key_of
from tests.interleavings.world import ANNA, ORIGINAL, SUCCESSOR, THEIRS, Job, Past, Woken, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interleavings.starting import Family

_ENDS = {Status.COMPLETED: None, Status.FAILED: FailureReason.NOT_DELIVERED, Status.OUTCOME_UNKNOWN: None}
_FOREIGN = "another tenant's "


def actions_on(family: Family) -> list[Action]:
    """Return everything that can be done to a family, in a fixed order; names are unique."""
    found = [action for past in family.pasts for action in _on_a_job(family, past)]
    names = [action.name for action in found]
    assert len(set(names)) == len(names), "two actions have one name"
    return found


def _on_a_job(family: Family, past: Past) -> Iterator[Action]:
    job = past.job
    call = Call(target=job.name, version=job.version, key=job.original or job.name, request=f"click on {job.name}")
    suffix = "" if len(family.jobs) == 1 else f" ({job.name})"
    found = [*_without_attempt(job, call), *_with_attempts(past, call)]
    found += [*_of_the_sweeper(family, job, call), *_on_an_original(family, job, call)]
    for action in found:
        yield replace(action, name=action.name + suffix)


def _without_attempt(job: Job, call: Call) -> Iterator[Action]:
    older = replace(call, version=job.version - 1)
    yield Action("claim", "claim", replace(call, attempt=f"{job.name}.new"))
    yield Action("claim of an older version", "claim", replace(older, attempt=f"{job.name}.new"), is_edge=True)
    yield Action("reject", "reject", call)
    yield Action("reject of an older version", "reject", older, is_edge=True)
    yield Action("cancel", "cancel", call)
    yield Action(f"{_FOREIGN}cancel", "cancel", replace(call, tenant=THEIRS), is_edge=True)
    if job.original:
        yield Action("cancel under the original's click", "cancel", replace(call, request=f"click on {job.original}"))
    yield from _edits(call, older)
    here = replace(call, destination=job.destination)
    yield Action("claim a slot", "claim a slot", replace(here, attempt=f"{job.name}.new"))
    yield Action("wake", "wake_waiting", here)
    yield Action("wake elsewhere", "wake_waiting", replace(call, destination="elsewhere"), is_edge=True)
    yield Action("open_hold", "open_hold", here)


def _edits(call: Call, older: Call) -> Iterator[Action]:
    yield Action("edit", "change_terms", call)
    yield Action("edit of an older version", "change_terms", older, is_edge=True)
    yield Action(f"{_FOREIGN}edit", "change_terms", replace(call, tenant=THEIRS), is_edge=True)
    for destination in ("disabled", "foreign"):
        moved = replace(call, destination=destination)
        yield Action(f"edit to a {destination} destination", "change_terms", moved, is_edge=True)


def _evidence_in(past: Past) -> int:
    last = f"{past.job.name}.{past.job.claims}"
    return sum(event.kind is EventKind.DELIVERY_EVIDENCE and event.attempt == last for event in past.events)


def _with_attempts(past: Past, call: Call) -> Iterator[Action]:
    job = past.job
    last = job.attempt or (f"{job.name}.{job.claims}" if job.claims else None)
    if last is None:
        return
    evidence = _evidence_in(past)
    yield from _of_an_attempt("", replace(call, attempt=last), evidence, is_edge=False)
    if job.claims > 1:
        yield from _of_an_attempt("late ", replace(call, attempt=f"{job.name}.1"), evidence, is_edge=True)
    uncounted = replace(call, attempt=last, judged=evidence + 1)
    yield Action("complete_acknowledged on other evidence", "complete_acknowledged", uncounted, is_edge=True)
    strange = replace(call, attempt="other bystander.1")
    yield Action("evidence of another export's attempt", "append_evidence", strange, is_edge=True)
    strange = replace(call, attempt="other bystander.2")
    yield Action("acknowledgment of another export's attempt", "collect_acknowledgment", strange, is_edge=True)
    yield from _misuses(replace(call, attempt=last))
    yield from _settling(job, replace(call, attempt=last))


def _of_an_attempt(prefix: str, call: Call, evidence: int, *, is_edge: bool) -> Iterator[Action]:
    build_failed = replace(call, to=Status.FAILED, reason=FailureReason.BUILD_FAILED)
    for program in ("authorize_delivery", "finish_stopped", "renew_lease", "return_lease", "append_evidence"):
        yield Action(prefix + program, program, call, is_edge)
    yield Action(f"{prefix}finish_failed", "finish_failed", build_failed, is_edge)
    for program in ("requeue", "exhaust", "stop_expired"):
        yield Action(prefix + program, program, call, is_edge)
    judged = replace(call, judged=evidence)
    yield Action(f"{prefix}complete_acknowledged", "complete_acknowledged", judged, is_edge)
    yield Action(f"{prefix}collect_acknowledgment", "collect_acknowledgment", call, is_edge)
    for to, reason in _ENDS.items():
        yield Action(f"{prefix}finish as {to}", "finish_delivery", replace(call, to=to, reason=reason), is_edge)
    for to in (Status.COMPLETED, Status.OUTCOME_UNKNOWN):
        yield Action(f"{prefix}resolve as {to}", "resolve", replace(call, to=to), is_edge)
    for to in (Status.COMPLETED, Status.FAILED):
        yield Action(f"{prefix}reconcile as {to}", "reconcile", replace(call, to=to), is_edge)


def _misuses(call: Call) -> Iterator[Action]:
    """Yield requests that no caller of the application makes, and that the statements refuse all the same."""
    stopped = replace(call, to=Status.STOPPED)
    for program in ("finish_delivery", "resolve", "reconcile"):
        yield Action(f"{program} as Stopped", program, stopped, is_edge=True)
    unproved = replace(call, to=Status.FAILED, reason=FailureReason.NOT_DELIVERED)
    yield Action("finish_failed as NotDelivered", "finish_failed", unproved, is_edge=True)


def _settling(job: Job, call: Call) -> Iterator[Action]:
    foreign = replace(call, tenant=THEIRS)
    yield Action(f"{_FOREIGN}reconciliation", "reconcile", foreign, is_edge=True)
    yield Action(f"{_FOREIGN}acknowledgment", "complete_acknowledged", foreign, is_edge=True)
    for recorded, to in ((Status.COMPLETED, Status.FAILED), (Status.FAILED, Status.COMPLETED)):
        reason = FailureReason.NOT_DELIVERED if to is Status.FAILED else None
        correction = replace(call, recorded=recorded, to=to, reason=reason)
        yield Action(f"correct {recorded} to {to}", "correct", correction, is_edge=job.status is not recorded)
    if job.status in {Status.COMPLETED, Status.FAILED, Status.OUTCOME_UNKNOWN}:
        yield from _wrong_corrections(job, call)


def _wrong_corrections(job: Job, call: Call) -> Iterator[Action]:
    other = Status.FAILED if job.status is Status.COMPLETED else Status.COMPLETED
    reason = FailureReason.NOT_DELIVERED if other is Status.FAILED else None
    right = replace(call, recorded=job.status, to=other, reason=reason)
    same_reason = job.reason if job.status is Status.FAILED else None
    calls = {
        f"{_FOREIGN}correction": replace(right, tenant=THEIRS),
        "correction of another attempt": replace(right, attempt=f"{job.name}.9"),
        "correction by who settled it": replace(right, person=ANNA),
        "correction to the same": replace(right, to=job.status, reason=same_reason),
        "correction to Stopped": replace(right, to=Status.STOPPED, reason=None),
    }
    for name, wrong in calls.items():
        yield Action(name, "correct", wrong, is_edge=True)
    allowed = replace(right, person=ANNA, allow_same_person=True)
    yield Action("correction by who settled it, allowed", "correct", allowed, is_edge=True)


def _of_the_sweeper(family: Family, job: Job, call: Call) -> Iterator[Action]:
    """Let the sweeper choose for itself: what was not woken for long, if there is such an export."""
    due = [each for each in family.jobs.values() if each.woken is Woken.LONG_AGO] or [family.subject.job]
    if job == due[0]:
        yield Action("sweep", "sweep", call)


def _on_an_original(family: Family, job: Job, call: Call) -> Iterator[Action]:
    again = replace(call, new=SUCCESSOR)
    yield Action("replace", "create_replacement", again, is_edge=job.original is not None)
    yield Action(f"{_FOREIGN}replacement", "create_replacement", replace(again, tenant=THEIRS), is_edge=True)
    if job.name == ORIGINAL and not family.original.is_published:
        yield Action("dispatch", "dispatch", replace(call, message=message_of(ORIGINAL, 0)))
    if family.other is None:
        anyone = replace(call, destination=job.destination, anyone=True)
        yield Action("wake whoever waits", "wake_waiting", anyone, is_edge=True)
    if family.other is None and job.claims == 0:
        born = Call(target="", new="newborn", key="newborn")
        yield Action("create", "create_export", born)
        yield Action("create with the same key", "create_export", replace(born, new="other newborn"))


def twin(action: Action) -> Action:
    """Return the same thing done by somebody else: another worker's attempt, another click, another birth."""
    call = action.call
    if action.program in {"claim", "claim a slot"}:
        call = replace(call, attempt=f"{call.attempt} too")
    if action.program in {"append_evidence", "collect_acknowledgment"}:
        call = replace(call, evidence=f"{call.evidence} too")
    if action.program == "cancel":
        call = replace(call, request=f"another {call.request}")
    if action.program == "create_replacement":
        call = replace(call, new=f"{call.new} too")
    return replace(action, call=call)


def key(job: Job) -> str:
    """Return the delivery key of a job."""
    return key_of(job.original or job.name)
