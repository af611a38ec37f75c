"""A client that asks two web processes for exports in turn, over REST, and what must have become of them."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import Request, urlopen

from exports.audit import audit
from exports.models import ExportJob, OutboxMessage
from exports.states import Status
from tests.faults.world import evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.world import World
    from tests.people import Caller

AT_ONCE = 6
ANSWER_SECONDS = 60.0
TRIES = 20


def ask_for(count: int, world: World, caller: Caller, webs: Sequence[str]) -> set[uuid.UUID]:
    """Create so many exports, each by the id the client chose; an answer that is lost is asked for again."""
    ids = [uuid.uuid4() for _ in range(count)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda turn: _create(ids[turn], world, caller, webs, turn), range(count)))
    return set(ids)


def _create(job_id: uuid.UUID, world: World, caller: Caller, webs: Sequence[str], turn: int) -> None:
    body = json.dumps({"id": str(job_id), "destination_id": str(world.destination.id)}).encode()
    headers = {"Content-Type": "application/json", "Authorization": caller.headers["authorization"]}
    for attempt in range(TRIES):
        web = webs[(turn + attempt) % len(webs)]
        with suppress(URLError, TimeoutError, ConnectionError):
            request = Request(f"{web}/api/v1/exports/", body, headers)  # noqa: S310 - our own web process
            with urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - the same
                assert answer.status in (200, 201)
                return
        time.sleep(0.5)  # a client's pause between tries
    raise AssertionError(f"no web process took export {job_id}")


def at_rest() -> bool:
    """Whether nothing is waiting or under way."""
    return not ExportJob.objects.filter(status__in=[Status.QUEUED, Status.RUNNING, Status.DELIVERING]).exists()


def claimed_by(pid: int) -> set[uuid.UUID]:
    """Return the exports whose current or last attempt is or was that of this process."""
    rows = ExportJob.objects.filter(claimed_by__contains=f":{pid}:")
    return set(rows.values_list("id", flat=True))


def nothing_lost_or_doubled(asked: set[uuid.UUID], world: World, *, unknown_at_most: int) -> int:
    """Hold the table against what was asked for and what stands at the partner; return how many are unknown."""
    jobs = {job.id: job for job in ExportJob.objects.all()}
    assert jobs.keys() == asked
    completed = [job for job in jobs.values() if job.status == Status.COMPLETED]
    unknown = [job for job in jobs.values() if job.status == Status.OUTCOME_UNKNOWN]
    others = [job for job in jobs.values() if job not in completed and job not in unknown]
    assert others == []
    assert len(unknown) <= unknown_at_most, [evidence(job) for job in unknown]

    delivered = {path.name for path in world.inbox.glob("contacts-*.csv")}
    must = {world.final(job).name for job in completed}
    may = {world.final(job).name for job in unknown}
    assert must <= delivered <= must | may
    assert all(world.arrived_as_recorded(job) for job in completed)
    assert not OutboxMessage.objects.filter(published_at=None).exists()
    assert [str(finding) for finding in audit("auditor") if finding.rule.is_violation] == []
    return len(unknown)
