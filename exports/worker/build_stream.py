"""The lines of one COPY, gathered into blocks.

PostgreSQL sends each row as one message. Taking them through the driver's own loop costs more than the server
needs to make them, so they are fetched from its protocol layer and handed on by the block: twice as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from psycopg import ClientCursor, DatabaseError
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.waiting import Wait

from exports.contracts import LineEnd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGresult

    from exports.worker.build_connection import BuildConnection
    from exports.worker.build_query import BuildQuery

BLOCK_BYTES: Final = 32 * 1024
"""Small enough to stay in the processor's cache while it is hashed and written; larger is slower."""

LINE_FEED: Final = b"\n"
"""How PostgreSQL ends every line it sends to a client."""

LINE_ENDS: Final = {LineEnd.LF: LINE_FEED, LineEnd.CRLF: b"\r\n"}


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of the CSV in UTF-8, and how many they are; the first block begins with the header."""

    content: bytearray
    lines: int


def blocks_of(connection: BuildConnection, query: BuildQuery, line_end: LineEnd) -> Iterator[Block]:
    """Yield the whole CSV; line breaks inside a quoted cell stay as they are.

    Raises psycopg errors. Locks are taken first: a COPY that has to wait for one already holds its snapshot, and
    would see a table that was refilled meanwhile as empty.
    """
    connection.execute(query.explain, query.parameters)
    text = ClientCursor(connection).mogrify(query.copy, query.parameters)
    _expect(ExecStatus.COPY_OUT, connection.wait(_begin(connection, text.encode())))
    over = False
    while not over:
        block, over = connection.wait(_next(connection, LINE_ENDS[line_end]))
        yield block
    _expect(ExecStatus.COMMAND_OK, connection.wait(_result(connection)))


def _begin(connection: BuildConnection, text: bytes) -> PQGen[PGresult]:
    """Send the statement and wait for the server's first answer."""
    connection.pgconn.send_query(text)
    while connection.pgconn.flush():
        yield Wait.W
    return (yield from _result(connection))


def _next(connection: BuildConnection, line_end: bytes) -> PQGen[tuple[Block, bool]]:
    """Fetch until a block is full or the rows are over, and say which."""
    fetch, replaces = connection.pgconn.get_copy_data, line_end != LINE_FEED
    content, lines = bytearray(), 0
    while len(content) < BLOCK_BYTES:
        length, line = fetch(1)  # 1: do not wait inside
        if length > 0:
            content += line
            lines += 1
            if replaces:
                content[-1:] = line_end
        elif length < 0:
            return Block(content, lines), True
        else:
            yield Wait.R
            connection.pgconn.consume_input()
    return Block(content, lines), False


def _result(connection: BuildConnection) -> PQGen[PGresult]:
    """Wait for what the server says next beside rows."""
    while connection.pgconn.is_busy():
        yield Wait.R
        connection.pgconn.consume_input()
    result = connection.pgconn.get_result()
    assert result is not None, "a COPY answers at its start and at its end"  # noqa: S101 - the protocol's promise
    return result


def _expect(status: ExecStatus, result: PGresult) -> None:
    """Raise the server's error without its words, which may quote a contact."""
    if result.status != status:
        state = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
        error = DatabaseError(f"SQLSTATE {state}")
        error.sqlstate = state or None
        raise error
