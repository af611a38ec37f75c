"""Finding an export by whatever the partner reads out, and what a click on cancel finds in every state there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from exports.models import CancellationRequest, ExportJob, OutboxMessage
from exports.states import CancellationOutcome, FailureReason, Status
from tests.lives import cancel, delivered, delivering, rejected, running, unknown
from tests.people import an_export
from tests.recovery import lives

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import Destination
    from tests.browser.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True, databases=lives.ALIASES)

LIST = "/admin/exports/exportjob/"


def click_of(job: ExportJob) -> Any:
    return cancel(job).id


WORDS: dict[str, Callable[[ExportJob], Any]] = {
    "its id": lambda job: job.id,
    "its delivery key": lambda job: job.delivery_key,
    "its final name": lambda job: f"contacts-{job.delivery_key}.csv",
    "the id of a cancellation": click_of,
    "the id of a wake-up": lambda job: OutboxMessage.objects.get(job_id=job.id).message_id,
}


@pytest.mark.parametrize("said", WORDS)
def test_an_export_is_found_by(operator: Visitor, destination: Destination, said: str) -> None:
    others, job = [an_export(destination) for _ in range(3)], an_export(destination)
    page = operator.open(LIST)

    page.get_by_role("searchbox").fill(str(WORDS[said](job)))
    page.get_by_role("searchbox").press("Enter")

    page.get_by_role("link", name=str(job.id)).wait_for()
    assert not any(page.get_by_text(str(other.id)).count() for other in others)
    page.get_by_role("link", name=str(job.id)).click()
    page.get_by_role("heading", name=f"Export {job.id}").wait_for()


def stopped(there: Destination) -> ExportJob:
    life = running(there)
    life.cancel()
    return life.stop().job


def canceled(there: Destination) -> ExportJob:
    job = an_export(there)
    cancel(job)
    return job


def asked_to_stop(there: Destination) -> ExportJob:
    life = running(there)
    life.cancel()
    return life.job


IN_STATE: dict[str, tuple[Callable[[Destination], ExportJob], CancellationOutcome]] = {
    "Queued": (an_export, CancellationOutcome.CANCELED_WHILE_QUEUED),
    "Running": (lambda there: running(there).job, CancellationOutcome.STOP_REQUESTED),
    "Running, asked to stop": (asked_to_stop, CancellationOutcome.STOP_ALREADY_REQUESTED),
    "Delivering": (lambda there: delivering(there).job, CancellationOutcome.TOO_LATE),
    "Completed": (lambda there: delivered(there).job, CancellationOutcome.TOO_LATE),
    "OutcomeUnknown": (lambda there: unknown(there).job, CancellationOutcome.TOO_LATE),
    "Canceled": (canceled, CancellationOutcome.ALREADY_CANCELED),
    "Stopped": (stopped, CancellationOutcome.ALREADY_ENDED),
    "Rejected": (lambda there: rejected(there, "no contract"), CancellationOutcome.ALREADY_ENDED),
    "Failed": (lambda there: running(there).fail(FailureReason.BUILD_FAILED).job, CancellationOutcome.ALREADY_ENDED),
}


@pytest.mark.parametrize("state", IN_STATE)
def test_a_click_on_cancel_finds_and_records_what_there_is(
    operator: Visitor, destination: Destination, state: str
) -> None:
    make, outcome = IN_STATE[state]
    job = make(destination)
    page = operator.open(f"{LIST}{job.id}/cancel/")
    operator.inspect(f"cancel-in-{state}")

    page.locator("#act-form button[type=submit]").click()

    page.wait_for_url("**/cancel/*-*/")
    operator.inspect(f"cancel-answer-in-{state}")
    assert CancellationRequest.objects.get(requested_by="user:olga").outcome == outcome


def test_every_state_is_among_them() -> None:
    assert {name.split(",")[0] for name in IN_STATE} == set(Status)


def test_no_browser_test_sets_a_status_itself() -> None:
    """States are reached by the project's own statements, as workers and people reach them."""
    forbidden = re.compile(r"(?i)update\s+export_jobs|insert\s+into\s+export_jobs|\.update\([^)]*status|\.save\(")
    files = sorted(set(Path(__file__).parent.glob("*.py")) - {Path(__file__)})
    assert len(files) > 5
    assert forbidden.search("UPDATE export_jobs SET status = 'Queued'")
    assert [file.name for file in files if forbidden.search(file.read_text())] == []
