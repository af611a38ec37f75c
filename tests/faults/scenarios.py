"""Lives of an export, one for each way through the product, and the crash points each passes.

`act` is the one step under test, as one process does it; everything before is arranged, and everything after is
the ordinary recovery of a deployment.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import connections

from exports import dispatcher, sweeper
from exports.actions.change_terms import TermsEdit, change_terms
from exports.actions.create_export import create_export
from exports.actions.request_cancellation import Click, request_cancellation
from exports.conf import Limits, limits
from exports.contracts import Acknowledgment, AcknowledgmentKind, Companion, Endpoint, Payload, Verification
from exports.evidence import Absent, Baseline, NoReply, PublishAnswered, PublishForm, PublishSent, Trouble, encode
from exports.holds import waking as waker
from exports.models import Destination, ExportAttemptEvent, ExportJob, Hold, Tenant
from exports.models.base import ClockTimestamp
from exports.states import Status
from exports.worker.drain import Drain
from exports.worker.process import WorkerProcess
from exports.worker.runner import WakeUp
from reconciliation import recovery
from reconciliation.acknowledgments.collecting import Collector
from tests.faults.boundaries import delivering, running
from tests.faults.world import BY, a_world, expire

if TYPE_CHECKING:
    from collections.abc import Callable

    from config.devstack.partner import PartnerAccount
    from tests.faults.world import World

ALIASES = ["default", "api", "worker", "dispatcher", "acknowledger", "auditor"]
"""The owner, and every role that acts or looks in these lives."""
DELIVERED = frozenset({Status.COMPLETED})
CLOSED_PORT = 9


@dataclass(frozen=True)
class Scenario:
    """One way through the product. `role` is whose process acts; `ends` is where the export may come to rest."""

    name: str
    role: str
    arrange: Callable[[World], uuid.UUID]
    act: Callable[[uuid.UUID, str], Any]
    points: tuple[str, ...]
    ends: frozenset[Status] = DELIVERED
    contract: dict[str, Any] | None = None
    source: str = "exports.worker.source.ContactsTable"
    max_attempts: int = 5

    def world(self, account: PartnerAccount) -> World:
        """Make the world this life takes place in."""
        return a_world(account, **(self.contract or {}))

    def limits(self) -> Limits:
        """Return this process's limits with what is particular to this life."""
        return replace(limits(), source=self.source, max_attempts=self.max_attempts)


def wake(job_id: uuid.UUID, using: str, settled: Callable[[], None] = lambda: None) -> None:
    """Take one wake-up as far as it goes."""
    WakeUp(job_id, settled, WorkerProcess(Drain(), alone=True, using=using)).run()


def _queued(world: World) -> uuid.UUID:
    return world.queued().id


def _create(job_id: uuid.UUID, using: str) -> None:
    destination = Destination.objects.using(using).order_by("-id").latest("name")
    tenant = Tenant.objects.using(using).get(id=destination.tenant_id)
    create_export(tenant, destination.id, BY, job_id, using=using)


def _cancel(job_id: uuid.UUID, using: str) -> None:
    job = ExportJob.objects.using(using).get(id=job_id)
    request_id = uuid.uuid5(job_id, "click")  # a client that got no answer sends the same click again
    click = Click(tenant_id=job.tenant_id, job_id=job_id, request_id=request_id, requested_by=BY)
    request_cancellation(click, using=using)


def _edit(job_id: uuid.UUID, using: str) -> None:
    job = ExportJob.objects.using(using).get(id=job_id)
    edit = TermsEdit(
        tenant_id=job.tenant_id,
        job_id=job_id,
        destination_id=job.destination_id,
        expected_version=1,
        changed_by=BY,
    )
    change_terms(edit, using=using)


def _dispatch(job_id: uuid.UUID, using: str) -> None:
    del job_id
    dispatcher.run_once(10, using)


def _recover(job_id: uuid.UUID, using: str) -> None:
    del job_id
    recovery.run_once(10, time_budget_seconds=20, using=using)


def _sweep(job_id: uuid.UUID, using: str) -> None:
    del job_id
    sweeper.run_once(10, time_budget_seconds=20, using=using)


def _wake_held(job_id: uuid.UUID, using: str) -> None:
    del job_id
    waker.run_once(10, using)


def _refused_by_policy(world: World) -> uuid.UUID:
    job = world.queued()
    Destination.objects.filter(id=world.destination.id).update(is_enabled=False)
    return job.id


def _expired(job: ExportJob) -> uuid.UUID:
    expire(job)
    return job.id


def _asked_to_stop(world: World) -> uuid.UUID:
    job = running(world)
    _cancel(job.id, "api")
    return _expired(job)


def _long_unwoken(world: World) -> uuid.UUID:
    job = world.queued()
    long_ago = "UPDATE export_jobs SET woken_at = woken_at - interval '1 day' WHERE id = %s"
    with connections["default"].cursor() as cursor:
        cursor.execute(long_ago, [job.id])
    return job.id


def _after_a_hold(world: World) -> uuid.UUID:
    job_id = _long_unwoken(world)
    Hold.objects.create(
        destination=world.destination,
        reason="a pause",
        created_by=BY,
        ended_at=ClockTimestamp(),
        ended_by=BY,
        ended_reason="over",
    )
    return job_id


def _collect(job_id: uuid.UUID, using: str) -> None:
    del job_id
    Collector(using).run_once(time_budget_seconds=20)


def _acknowledged(world: World) -> uuid.UUID:
    """Let a delivery whose answer was lost stand at the partner, with the partner's acknowledgment beside it."""
    job, content = running(world), b"what was sent"
    name, sha256 = world.final(job).name, hashlib.sha256(content).digest()
    named: dict[str, Any] = {"job_id": job.id, "attempt_id": job.attempt_id}
    jobs, events = ExportJob.objects.db_manager("worker"), ExportAttemptEvent.objects.db_manager("worker")
    jobs.authorize_delivery(**named, final_name=name, file_rows=1, file_bytes=len(content), file_sha256=sha256)
    sent = (Baseline(Absent()), PublishSent(PublishForm.LINK, f".{name}.part", name))
    for record in (*sent, PublishAnswered(NoReply(Trouble.CONNECTION_LOST))):
        events.append_evidence(**named, observed_by=BY, detail=encode(record))
    outcome = Status.OUTCOME_UNKNOWN
    jobs.finish_delivery(**named, worker_id=BY, outcome=outcome, reason=None, detail=f"{outcome}: no answer")
    world.final(job).write_bytes(content)
    world.final(job).with_name(f"{name}.ack").touch()
    return job.id


ACKNOWLEDGES = Verification(
    acknowledgment=Acknowledgment(AcknowledgmentKind.FILE_APPEARS, suffix=".ack", completes_automatically=True)
)


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}.{side}" for name in names for side in ("before", "after"))


UPLOADING = ("before_look", "after_baseline", "before_upload", "after_upload", "after_announce", "before_publish")
PUBLISHED = ("after_publish", "after_answer", "after_read_back", "after_companion", "after_remove")
BEFORE_CUTOFF_2 = _both("claim", "settle", "build", "connect", "authorize")
AFTER_CUTOFF_2 = (*(f"delivery.{name}" for name in (*UPLOADING, *PUBLISHED)), *_both("evidence", "finished"))
UNKNOWN = frozenset({Status.COMPLETED, Status.OUTCOME_UNKNOWN})
STOPPED = frozenset({Status.STOPPED})
FAILED = frozenset({Status.FAILED})

SCENARIOS = (
    Scenario("create", "api", lambda _world: uuid.uuid4(), _create, _both("create")),
    Scenario("dispatch", "dispatcher", _queued, _dispatch, _both("dispatch.publish", "dispatch.commit")),
    Scenario(
        "deliver",
        "worker",
        _queued,
        wake,
        (*BEFORE_CUTOFF_2, *AFTER_CUTOFF_2),
        UNKNOWN,
        contract={"companions": (Companion(suffix=".done"),)},
    ),
    Scenario(
        "stop",
        "worker",
        _queued,
        wake,
        _both("stopped"),
        STOPPED,
        source="tests.faults.sources.StoppedMeanwhile",
    ),
    Scenario("fail", "worker", _queued, wake, _both("failed"), FAILED, contract={"payload": Payload(("no such",))}),
    Scenario(
        "give back",
        "worker",
        _queued,
        wake,
        _both("returned"),
        frozenset({Status.QUEUED}),
        contract={"endpoint": Endpoint(host="127.0.0.1", port=CLOSED_PORT)},
    ),
    Scenario("reject", "worker", _refused_by_policy, wake, _both("reject"), frozenset({Status.REJECTED})),
    Scenario("cancel", "api", _queued, _cancel, _both("cancel.commit"), frozenset({Status.CANCELED})),
    Scenario("edit", "api", _queued, _edit, _both("terms")),
    Scenario("sweep", "worker", _long_unwoken, _sweep, _both("sweep")),
    Scenario("wake", "worker", _after_a_hold, _wake_held, _both("wake")),
    Scenario("requeue", "worker", lambda world: _expired(running(world)), _recover, _both("recover.requeued")),
    Scenario(
        "exhaust",
        "worker",
        lambda world: _expired(running(world)),
        _recover,
        _both("recover.exhausted"),
        FAILED,
        max_attempts=1,
    ),
    Scenario(
        "stop expired",
        "worker",
        _asked_to_stop,
        _recover,
        _both("recover.stopped"),
        STOPPED,
    ),
    Scenario(
        "resolve",
        "worker",
        lambda world: _expired(delivering(world)),
        _recover,
        _both("recover.probe", "recover.evidence", "recover.resolved"),
        frozenset({Status.OUTCOME_UNKNOWN}),
    ),
    Scenario(
        "acknowledge",
        "acknowledger",
        _acknowledged,
        _collect,
        _both("acknowledgment.append", "acknowledgment.complete"),
        contract={"verification": ACKNOWLEDGES},
    ),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}

BY_PEOPLE = frozenset(
    (
        *_both("replace", "reconcile", "correct", "person_evidence"),
        "hold.open.after",
        "hold.end.after",
        "agreement.after",
    )
)
"""Points on the way of a person's own decision: one statement each, on a page whose answer the person waits for."""
