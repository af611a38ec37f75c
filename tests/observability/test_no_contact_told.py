"""No value of a contact is kept or told anywhere but in contacts and the file: rows, log lines, metrics, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.db import connections
from psycopg import sql

from exports.contracts import Guards, Payload
from exports.models import Contact, Hold
from exports.states import FailureReason, Status
from tests.console.pages import one_of
from tests.faults.world import a_world, now
from tests.lives import cancel
from tests.routing import RoleClient

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount
    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.world import World

pytestmark = [
    pytest.mark.usefixtures("spool", "web_process"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

VALUES = ("zinnia.quill@private.example", "Zinnia\u200b", "Qüill-Ω\U0001f98e", "+31 6 9988 7766", "quiet-note-4711")
FIELDS = ("email", "given_name", "family_name", "phone", "notes")


def planted(account: PartnerAccount, **parts: Any) -> World:
    """Return a world in which each contact has values that occur nowhere else."""
    world = a_world(account, **parts)
    Contact.objects.update(**dict(zip(FIELDS, VALUES, strict=True)))
    return world


def everything_kept() -> str:
    """Return every row of every table but the contacts themselves, as text."""
    tables = sorted(model._meta.db_table for model in apps.get_models(include_auto_created=True))
    found = []
    with connections["default"].cursor() as cursor:
        for table in set(tables) - {"contacts"}:
            cursor.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table)))
            found += [row[0] for row in cursor.fetchall()]
    return "\n".join(found)


def told(job: ExportJob, caplog: pytest.LogCaptureFixture) -> dict[str, str]:
    """Return all that is kept or said about what happened."""
    viewer = one_of("Export operators", job.tenant)
    return {
        "rows": everything_kept(),
        "log lines": "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records),
        "metrics": RoleClient().get("/metrics").content.decode(),
        "the export's page": viewer.get(f"/admin/exports/exportjob/{job.id}/change/").content.decode(),
    }


def leaks(places: dict[str, str]) -> list[str]:
    return [f"{value!r} in {place}" for place, text in places.items() for value in VALUES if value in text]


def test_a_delivered_export_tells_no_contact(
    partner: PartnerAccount, waking: Waking, caplog: pytest.LogCaptureFixture
) -> None:
    world = planted(partner)
    job = world.queued()

    with caplog.at_level("DEBUG"):
        waking.run(job)

    assert now(job).status == Status.COMPLETED
    assert VALUES[0] in world.final(job).read_text()  # it was there to be told
    assert leaks(told(job, caplog)) == []


def test_a_value_that_the_file_cannot_hold_is_not_told_with_the_failure(
    partner: PartnerAccount, waking: Waking, caplog: pytest.LogCaptureFixture
) -> None:
    job = planted(partner, payload=Payload(encoding="latin-1")).queued()

    with caplog.at_level("DEBUG"):
        waking.run(job)

    assert now(job).failure_reason == FailureReason.BUILD_FAILED
    assert leaks(told(job, caplog)) == []


def test_a_file_that_a_guard_holds_and_an_export_that_is_cancelled_tell_no_contact(
    partner: PartnerAccount, waking: Waking, caplog: pytest.LogCaptureFixture
) -> None:
    world = planted(partner, guards=Guards(max_rows=1))
    job = world.queued()

    with caplog.at_level("DEBUG"):
        waking.run(job)
        cancel(job)

    assert Hold.objects.filter(job_id=job.id).exists()
    assert leaks(told(job, caplog)) == []


def test_what_would_be_told_is_seen(partner: PartnerAccount, caplog: pytest.LogCaptureFixture) -> None:
    job = planted(partner).queued()
    Hold.objects.create(tenant=job.tenant, reason=f"{VALUES[0]} complained", created_by="user:ann")

    with caplog.at_level("DEBUG"):
        found = leaks(told(job, caplog))

    assert f"{VALUES[0]!r} in rows" in found
    assert f"{VALUES[0]!r} in the export's page" in found
