"""Clicks on cancel at random moments of many exports' lives: what each was told is where its export ended."""

from __future__ import annotations

import random
import threading
import uuid
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports import crashpoints
from exports.actions.request_cancellation import Click, Recorded, request_cancellation
from exports.audit.run import audit
from exports.contracts import Companion
from exports.models import CancellationRequest, ExportJob
from exports.states import CancellationOutcome, Status
from exports.worker.drain import Drain
from exports.worker.process import WorkerProcess
from exports.worker.runner import WakeUp
from tests.faults.scenarios import AFTER_CUTOFF_2, BEFORE_CUTOFF_2
from tests.faults.world import BY, a_world, kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.partner import PartnerAccount

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "auditor"])

SLOTS = 4
BEFORE, AFTERWARDS = "before it starts", "after it ended"
PARTS = ((BEFORE,), BEFORE_CUTOFF_2, AFTER_CUTOFF_2, (AFTERWARDS,))
"""Parts of a life between which a click finds something else; the first two pass quickly and are met as often."""
MOMENTS = tuple(moment for part in PARTS for moment in part)

MAY_END = {
    CancellationOutcome.CANCELED_WHILE_QUEUED: {Status.CANCELED},
    CancellationOutcome.STOP_REQUESTED: {Status.STOPPED},
    CancellationOutcome.STOP_ALREADY_REQUESTED: {Status.STOPPED},
    CancellationOutcome.ALREADY_CANCELED: {Status.CANCELED},
    CancellationOutcome.ALREADY_ENDED: {Status.STOPPED},
    CancellationOutcome.TOO_LATE: {Status.COMPLETED},
}


class Clicking:
    """Lets wake-ups run in a few slots, and clicks twice at a random moment of each export's life."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a moment, not a secret
        self._moments: dict[uuid.UUID, str] = {}
        self._here = threading.local()
        self._clicks: list[Future[None]] = []
        self._clickers = ThreadPoolExecutor(SLOTS, thread_name_prefix="click")
        self._workers = ThreadPoolExecutor(SLOTS, thread_name_prefix="slot")
        self._worker = WorkerProcess(Drain(), alone=True, using="worker")

    def run(self, jobs: list[ExportJob]) -> None:
        """Take every export to its end."""
        for job in jobs:
            self._moments[job.id] = self._random.choice(self._random.choice(PARTS))
        for point in MOMENTS:
            crashpoints.arm(point, lambda point=point: self._at(point))  # type: ignore[misc] # bound early
        for done in [self._workers.submit(self._live, job) for job in jobs]:
            done.result()
        for clicked in self._clicks:
            clicked.result()
        self._workers.submit(connections["worker"].close)

    def _live(self, job: ExportJob) -> None:
        self._here.job = job
        self._at(BEFORE)
        WakeUp(job.id, lambda: None, self._worker).run()
        self._at(AFTERWARDS)
        connections["worker"].close()

    def _at(self, moment: str) -> None:
        """Start the clicks when this is the export's moment; the attempt goes on at once."""
        job: ExportJob = self._here.job
        if self._moments.get(job.id) == moment:
            del self._moments[job.id]
            self._clicks += [self._clickers.submit(self._click, job) for _ in range(2)]

    def _click(self, job: ExportJob) -> None:
        click = Click(tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by=BY)
        try:
            assert isinstance(request_cancellation(click, using="api"), Recorded)
        finally:
            connections["api"].close()


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.mark.parametrize("count", [150, pytest.param(1_000, marks=pytest.mark.soak)])
def test_what_every_click_was_told_agrees_with_where_its_export_ended(count: int, partner: PartnerAccount) -> None:
    world = a_world(partner, companions=(Companion(suffix=".done"),))
    seed = random.randrange(1_000_000)  # noqa: S311 - printed, so that a failure can be repeated
    print(f"seed {seed}")  # noqa: T201 - the same
    jobs = [world.queued() for _ in range(count)]

    Clicking(seed).run(jobs)

    told = list(CancellationRequest.objects.all())
    assert len(told) == 2 * count
    assert [click for click in told if not agrees(click)] == []
    assert [str(finding) for finding in audit("auditor") if finding.rule.is_violation] == []
    outcomes = Counter(click.outcome for click in told)
    print(dict(outcomes))  # noqa: T201 - which moments were met
    assert {CancellationOutcome.CANCELED_WHILE_QUEUED, CancellationOutcome.STOP_REQUESTED} <= set(outcomes)
    assert CancellationOutcome.TOO_LATE in outcomes


def agrees(click: CancellationRequest) -> bool:
    """Whether this record is true of its export as it ended."""
    job = ExportJob.objects.get(id=click.job_id)
    outcome = CancellationOutcome(click.outcome)
    if job.status not in MAY_END[outcome]:
        return False
    if outcome is CancellationOutcome.CANCELED_WHILE_QUEUED:
        return job.attempt_count == 0 and kinds(job) == [] and job.cancellation_request_id == click.id
    if outcome is CancellationOutcome.STOP_REQUESTED:
        return job.stop_request_id == click.id and job.delivery_authorized_at is None
    if outcome is CancellationOutcome.TOO_LATE:
        return job.delivery_authorized_at is not None and click.found_delivery_authorized_at is not None
    return True
