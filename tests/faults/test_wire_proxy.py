"""The proxy itself: each fault does exactly what its name says, at the moment it says."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.faults.observing import until
from tests.faults.relay import Doors
from tests.faults.wire_proxy import Fault, WireProxy, containing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.stack import Stack


@pytest.fixture
def direct(stack: Stack) -> Iterator[psycopg.Connection]:
    """Return a connection past the proxy, and a table to see effects in."""
    with psycopg.connect(stack.postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE effects (n int)")
        yield connection
        connection.execute("DROP TABLE effects")


@contextmanager
def through(proxy: WireProxy, stack: Stack) -> Iterator[psycopg.Connection]:
    url = stack.postgres.url().replace(f":{stack.postgres.port}/", f":{proxy.port}/")
    with closing(psycopg.connect(url, autocommit=True, connect_timeout=5)) as connection:
        yield connection


def effects(direct: psycopg.Connection) -> list[int]:
    return [row[0] for row in direct.execute("SELECT n FROM effects ORDER BY n")]


def is_active(direct: psycopg.Connection, pid: int) -> bool:
    found = direct.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone()
    return found == ("active",)


def assert_waiting(direct: psycopg.Connection, pid: int) -> None:
    until(lambda: direct.execute("SELECT cardinality(pg_blocking_pids(%s))", [pid]).fetchone() == (1,))


INSERT = "INSERT INTO effects VALUES (%s)"


def test_without_a_fault_both_protocols_and_copy_pass_unchanged(
    proxy: WireProxy, stack: Stack, direct: psycopg.Connection
) -> None:
    with through(proxy, stack) as connection:
        connection.execute(INSERT, [1])
        psycopg.ClientCursor(connection).execute(INSERT, [2])
        with connection.cursor().copy("COPY effects FROM STDIN") as copy:
            copy.write_row([3])
        with connection.cursor().copy("COPY effects TO STDOUT") as copy:
            assert len(list(copy.rows())) == 3
    assert effects(direct) == [1, 2, 3]


def test_a_cut_reply_leaves_the_effect_and_an_error(proxy: WireProxy, stack: Stack, direct: psycopg.Connection) -> None:
    laid = proxy.ambush(containing("INSERT INTO effects"), Fault.CUT_REPLY)
    with through(proxy, stack) as connection, pytest.raises(psycopg.OperationalError):
        connection.execute(INSERT, [1])
    laid.wait()
    assert effects(direct) == [1]


def test_a_dropped_request_leaves_no_effect_and_the_same_error(
    proxy: WireProxy, stack: Stack, direct: psycopg.Connection
) -> None:
    laid = proxy.ambush(containing("INSERT INTO effects"), Fault.DROP_REQUEST)
    with through(proxy, stack) as connection, pytest.raises(psycopg.OperationalError):
        connection.execute(INSERT, [1])
    laid.wait()
    assert effects(direct) == []


def test_a_fault_waits_for_the_statement_it_was_laid_for_and_for_its_turn(
    proxy: WireProxy, stack: Stack, direct: psycopg.Connection
) -> None:
    proxy.ambush(containing("INSERT INTO effects"), Fault.DROP_REQUEST, nth=2)
    with through(proxy, stack) as connection:
        connection.execute("SELECT 1")
        connection.execute(INSERT, [1])
        with pytest.raises(psycopg.OperationalError):
            connection.execute(INSERT, [2])
    assert effects(direct) == [1]


def test_a_lost_client_leaves_a_session_that_still_commits(
    proxy: WireProxy, stack: Stack, direct: psycopg.Connection
) -> None:
    with closing(psycopg.connect(stack.postgres.url())) as holder:
        holder.execute("LOCK TABLE effects")
        laid = proxy.ambush(containing("INSERT INTO effects"), Fault.LOSE_CLIENT)
        with through(proxy, stack) as connection:
            zombie = connection.info.backend_pid
            with pytest.raises(psycopg.OperationalError):
                connection.execute(INSERT, [1])
        laid.wait()
        assert_waiting(direct, zombie)
        holder.rollback()
    until(lambda: not is_active(direct, zombie))
    assert effects(direct) == [1]


def test_a_black_hole_keeps_the_connection_and_swallows_the_answer(
    proxy: WireProxy, stack: Stack, direct: psycopg.Connection
) -> None:
    laid = proxy.ambush(containing("INSERT INTO effects"), Fault.BLACK_HOLE)
    with through(proxy, stack) as connection:
        connection.pgconn.send_query(b"INSERT INTO effects VALUES (1)")
        connection.pgconn.flush()
        laid.wait()
        until(lambda: effects(direct) == [1])
        connection.pgconn.consume_input()
        assert connection.pgconn.is_busy()


@pytest.mark.parametrize("doors", [Doors.RESET, Doors.CLOSED])
def test_closed_doors_refuse_and_open_again(doors: Doors, proxy: WireProxy, stack: Stack) -> None:
    proxy.set_doors(doors)
    with pytest.raises(psycopg.OperationalError), through(proxy, stack):
        pass
    proxy.set_doors(Doors.OPEN)
    with through(proxy, stack) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
