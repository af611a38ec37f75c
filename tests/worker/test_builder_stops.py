"""Stopping a build: promptly, wherever it is, and without a trace; and what it sees of the table until then."""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections

from exports.errors import BuildStopped
from exports.worker import build_connection
from exports.worker.builder import ExportFile
from exports.worker.stop import StopSignal, StopWhy
from tests.worker import contacts
from tests.worker.building import Running, a_build, until, use_source, wait_until_blocked

if TYPE_CHECKING:
    from pathlib import Path

    from exports.models import Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "worker"])


@pytest.mark.usefixtures("eager")
def test_a_stop_ends_a_streaming_build_within_100_ms(tenant: Tenant, spool: Path, settings: Any) -> None:
    use_source(settings, "Endless")
    taken = []
    for _ in range(3):
        running = Running(tenant)
        running.wait_until_streaming()
        taken.append(running.seconds_to_stop())
        assert isinstance(running.end(), BuildStopped)
        assert list(spool.iterdir()) == []

    assert min(taken) < 0.1  # the best of three: a busy machine may hold any thread up for longer than that


def test_a_stop_ends_a_build_that_waits_for_a_lock_within_100_ms(
    tenant: Tenant, spool: Path, holder: psycopg.Connection[Any], admin_url: str
) -> None:
    taken = []
    for _ in range(3):
        running = Running(tenant)
        wait_until_blocked(running, holder, admin_url)
        taken.append(running.seconds_to_stop())
        assert isinstance(running.end(), BuildStopped)
        assert list(spool.iterdir()) == []

    assert min(taken) < 0.1


def test_after_a_stop_the_server_works_for_the_build_no_more(tenant: Tenant, settings: Any, admin_url: str) -> None:
    use_source(settings, "Endless")
    running = Running(tenant)
    running.wait_until_streaming()
    with psycopg.connect(admin_url, autocommit=True) as admin:
        pid = running.server_process(admin)
        running.seconds_to_stop()
        until(lambda: not admin.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]).fetchall())


def test_a_stop_before_the_build_began_leaves_nothing_behind(tenant: Tenant, spool: Path) -> None:
    stop = StopSignal()
    stop.set(StopWhy.DRAINING)

    with pytest.raises(BuildStopped):
        a_build(tenant, stop=stop)

    assert not spool.exists()


@pytest.mark.usefixtures("eager")
def test_a_stop_while_the_last_rows_are_written_is_obeyed(tenant: Tenant, spool: Path) -> None:
    contacts.load_one(tenant)
    stop = StopSignal()

    with pytest.raises(BuildStopped):
        a_build(tenant, stop=stop, progress=lambda *_: stop.set(StopWhy.LEASE_LOST))

    assert list(spool.iterdir()) == []


def test_a_server_that_obeys_no_cancel_is_cut_off(
    tenant: Tenant, holder: psycopg.Connection[Any], admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deaf(*_: Any, **__: Any) -> None:
        raise psycopg.errors.CancellationTimeout

    monkeypatch.setattr(psycopg.Connection, "cancel_safe", deaf)
    monkeypatch.setattr(build_connection, "CUT_AFTER_SECONDS", 0.2)
    running = Running(tenant)
    wait_until_blocked(running, holder, admin_url)

    assert running.seconds_to_stop() < 2
    assert isinstance(running.end(), BuildStopped)


def refill(holder: psycopg.Connection[Any], tenant: Tenant) -> None:
    """Do what a nightly load does: empty the table and fill it again, in one transaction."""
    holder.execute("TRUNCATE contacts")
    columns = ", ".join(contacts.COLUMNS)
    for key in ("new-1", "new-2"):
        values = [tenant.id, key, *("",) * 7]
        holder.execute(f"INSERT INTO contacts (tenant_id, {columns}) VALUES (%s{', %s' * 8})", values)


def test_a_table_refilled_while_the_build_waits_for_it_is_exported_whole(
    tenant: Tenant, holder: psycopg.Connection[Any], admin_url: str
) -> None:
    refill(holder, tenant)
    running = Running(tenant)
    wait_until_blocked(running, holder, admin_url)
    holder.commit()

    file = running.end()

    assert isinstance(file, ExportFile)
    assert file.rows == 2


def test_the_negative_control_a_bare_copy_sees_the_refilled_table_empty(
    tenant: Tenant, holder: psycopg.Connection[Any], admin_url: str
) -> None:
    refill(holder, tenant)
    seen: list[bytes] = []
    bare = psycopg.connect(admin_url, dbname=connections["default"].settings_dict["NAME"], autocommit=True)

    def copy() -> None:
        with bare.cursor().copy("COPY (SELECT external_id FROM contacts) TO STDOUT") as rows:
            seen.extend(bytes(row) for row in rows)

    thread = threading.Thread(target=copy)
    thread.start()
    with psycopg.connect(admin_url, autocommit=True) as admin:
        ask = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
        until(lambda: admin.execute(ask, [bare.info.backend_pid]).fetchone() == (True,))
    holder.commit()
    thread.join(20)
    bare.close()

    assert seen == []


@pytest.mark.usefixtures("eager")
def test_progress_counts_rows_and_bytes_up_to_the_whole_file(tenant: Tenant) -> None:
    contacts.load(tenant, contacts.awkward_rows(3_000))
    told: list[tuple[int, int]] = []

    file = a_build(tenant, progress=lambda rows, size: told.append((rows, size)))

    assert told == sorted(told)
    assert len(told) > 3
    assert told[-1] == (file.rows, file.bytes)


def test_progress_is_not_told_more_than_once_a_second(tenant: Tenant, settings: Any) -> None:
    use_source(settings, "Endless")
    told: list[float] = []
    running = Running(tenant, progress=lambda *_: told.append(time.monotonic()))
    until(lambda: len(told) == 2)
    running.seconds_to_stop()

    assert told[1] - told[0] >= 1.0


def test_the_build_reads_and_cannot_write() -> None:
    with build_connection.build_connection("worker", uuid.uuid4(), StopSignal()) as connection:
        shown = connection.execute("SHOW transaction_read_only").fetchone()
        waits = connection.execute("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')")
        assert shown == ("on",)
        assert waits.fetchone() == ("4h", "5min")
