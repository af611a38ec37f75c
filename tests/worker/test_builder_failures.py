"""What can break a build: it becomes one exception, in words without contact data, and leaves no file."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections

from exports.conf import limits
from exports.errors import ExportBuildException
from tests.worker import contacts
from tests.worker.building import Running, a_build, everything_said, use_source

if TYPE_CHECKING:
    from pathlib import Path

    from exports.models import Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "worker"])


def test_a_database_error_s_words_are_not_passed_on(tenant: Tenant, settings: Any, spool: Path) -> None:
    contacts.load_one(tenant, "1", email="private@example.org")
    use_source(settings, "Telltale")

    with pytest.raises(ExportBuildException, match=r"refused the build's query \(SQLSTATE 22P02\)") as failed:
        a_build(tenant)

    assert "private" not in everything_said(failed.value)
    assert list(spool.iterdir()) == []


def test_the_negative_control_the_database_does_quote_the_contact(tenant: Tenant) -> None:
    contacts.load_one(tenant, "1", email="private@example.org")

    with pytest.raises(psycopg.Error, match="private"), connections["worker"].cursor() as cursor:
        cursor.cursor.execute("SELECT email::int FROM contacts")


def test_a_database_that_cannot_be_reached_is_a_build_failure(tenant: Tenant, spool: Path) -> None:
    values = connections["worker"].settings_dict
    port, values["PORT"] = values["PORT"], 1
    try:
        with pytest.raises(ExportBuildException, match="The database could not be reached"):
            a_build(tenant)
    finally:
        values["PORT"] = port
    assert list(spool.iterdir()) == []


def test_a_session_that_is_ended_is_a_build_failure_and_no_stop(
    tenant: Tenant, spool: Path, settings: Any, admin_url: str
) -> None:
    use_source(settings, "Endless")
    running = Running(tenant)
    running.wait_until_streaming()

    with psycopg.connect(admin_url) as admin:
        admin.execute("SELECT pg_terminate_backend(%s)", [running.server_process(admin)])

    assert isinstance(running.end(), ExportBuildException)
    assert list(spool.iterdir()) == []


def test_a_failing_progress_report_is_a_build_failure(tenant: Tenant, spool: Path, settings: Any) -> None:
    use_source(settings, "Endless")

    def fail(_rows: int, _size: int) -> None:
        raise RuntimeError("private")

    with pytest.raises(ExportBuildException, match=r"could not be built: RuntimeError\.$"):
        a_build(tenant, progress=fail)

    assert list(spool.iterdir()) == []


def test_a_second_build_of_the_same_attempt_leaves_the_first_one_s_file(tenant: Tenant) -> None:
    ids: dict[str, Any] = {"job_id": uuid.uuid4(), "attempt_id": uuid.uuid4()}
    first = a_build(tenant, **ids)

    with pytest.raises(ExportBuildException, match="already exists"):
        a_build(tenant, **ids)

    assert first.path.exists()


def test_a_full_disk_is_a_build_failure_and_leaves_no_file(tenant: Tenant, small_disk: Path, settings: Any) -> None:
    settings.EXPORTS = replace(limits(), spool_dir=small_disk / "spool", spool_floor_bytes=0)
    use_source(settings, "Endless")

    with pytest.raises(ExportBuildException, match=r"^The disk of the spool directory is full\.$"):
        a_build(tenant)

    assert list((small_disk / "spool").iterdir()) == []


def test_a_disk_below_the_floor_refuses_the_build_before_it_begins(
    tenant: Tenant, small_disk: Path, settings: Any
) -> None:
    settings.EXPORTS = replace(limits(), spool_dir=small_disk / "spool")

    with pytest.raises(ExportBuildException, match="has less than 268435456 bytes free"):
        a_build(tenant)


def test_a_shared_spool_directory_is_a_build_failure(tenant: Tenant, spool: Path) -> None:
    spool.mkdir()
    spool.chmod(0o755)

    with pytest.raises(ExportBuildException, match="must have mode 0700"):
        a_build(tenant)
