"""What builds need: a spool, a tenant, and somebody who holds the contacts."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import psycopg
import pytest
from django.db import connections

from exports.conf import limits
from exports.worker import builder
from tests.worker import contacts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exports.models import Tenant


@pytest.fixture
def spool(tmp_path: Path, settings: Any) -> Path:
    """Return the spool directory of this test, empty."""
    settings.EXPORTS = replace(limits(), spool_dir=tmp_path / "spool")
    return tmp_path / "spool"


@pytest.fixture
def tenant(spool: Path) -> Tenant:  # noqa: ARG001 - every build needs a spool
    """Return a tenant without contacts."""
    return contacts.a_tenant()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report progress at every block."""
    monkeypatch.setattr(builder, "PROGRESS_SECONDS", 0.0)


@pytest.fixture
def holder(tenant: Tenant, admin_url: str) -> Iterator[psycopg.Connection[Any]]:  # noqa: ARG001 - the table exists
    """Hold the contacts as a migration or a reload does, until the connection commits."""
    database = connections["default"].settings_dict["NAME"]
    with psycopg.connect(admin_url, dbname=database) as connection:
        connection.execute("LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE")
        yield connection


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of two megabytes, as only root may."""
    place = tmp_path / "disk"
    place.mkdir()
    done = _run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place))
    if done is None or done.returncode:
        _lacking("a disk that can be filled: only root may mount one")
    yield place
    _run("umount", str(place))


def _run(*command: str) -> subprocess.CompletedProcess[bytes] | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    return subprocess.run([program, *command[1:]], capture_output=True, check=False, timeout=20)


def _lacking(what: str) -> NoReturn:
    """Skip, or fail where everything a test can need is promised to be there."""
    if os.environ.get("REQUIRE_SERVERS") == "1":
        pytest.fail(f"REQUIRE_SERVERS=1, but there is not {what}")
    pytest.skip(f"there is not {what}")
