"""A whole export by real processes: every line is an object, found by its ids, and no line tells what it must not."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from exports.models import Contact
from exports.states import Status
from tests.faults.observing import until
from tests.faults.processes import a_dispatcher, a_worker, worker_environment
from tests.faults.world import now

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack
    from exports.models import ExportJob
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

STORY = ["export_claimed", "file_built", "delivery_authorized", "delivery_ended"]


@pytest.fixture
def lines(stack: Stack, spool: Path, world: World) -> tuple[ExportJob, str]:
    """Return an export as it ended, and everything that worker and dispatcher wrote meanwhile."""
    job = world.queued()
    logs = [spool.parent / "worker.log", spool.parent / "dispatcher.log"]
    with (
        a_worker(worker_environment(stack.broker.url(), spool), logs[0]),
        a_dispatcher(worker_environment(stack.broker.url(), spool, "dispatcher"), logs[1]),
    ):
        until(lambda: now(job).status == Status.COMPLETED, 40)
        until(lambda: STORY[-1] in logs[0].read_text())
    return now(job), "".join(log.read_text() for log in logs)


def test_every_line_is_an_object_with_a_name_and_an_exports_story_is_told_once_under_its_ids(
    lines: tuple[ExportJob, str],
) -> None:
    job, text = lines

    found: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]

    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in found)
    assert [line["event"] for line in found if line["event"] in STORY] == STORY
    told = [line for line in found if line.get("job_id") == str(job.id)]
    assert [line["event"] for line in told] == STORY
    assert {(line["attempt_id"], line["tenant_id"]) for line in told} == {(str(job.attempt_id), str(job.tenant_id))}


def test_no_line_has_a_contacts_data_a_password_or_a_key(
    lines: tuple[ExportJob, str], partner: PartnerAccount, stack: Stack
) -> None:
    _, text = lines
    logins = [urlsplit(url).password for name, url in os.environ.items() if name.endswith("DATABASE_URL")]
    secrets = [partner.password, urlsplit(stack.broker.url()).password, os.environ["CREDENTIAL_KEYS"], *logins]
    contacts = [value for row in Contact.objects.values_list("email", "given_name", "phone") for value in row if value]

    assert len(contacts) >= 20
    assert [word for word in [*secrets, *contacts] if word and word in text] == []
