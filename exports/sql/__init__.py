"""Every statement that writes to the five tables, one a file, each with its contract in the header (I1).

The registry is open to the apps above (reconciliation registers its own) and closed to everybody else: a
test PREPAREs each entry, the interleavings are generated from it, and another test finds any other write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, cast

import psycopg
from django.db import connections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.backends.utils import CursorWrapper

HEADER_FIELDS = ("Moves", "Guard", "Locks", "Role", "Returns")
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement and what its header promises."""

    name: str
    text: str
    moves: str
    guard: str
    locks: str
    roles: tuple[str, ...]
    returns: str

    @property
    def parameters(self) -> frozenset[str]:
        """The names a caller has to bind."""
        return frozenset(re.findall(r"%\((\w+)\)s", self.text))


STATEMENTS: dict[str, Statement] = {}


def _header(path: Path, text: str) -> dict[str, str]:
    comment = " ".join(line[2:].strip() for line in text.splitlines() if line.startswith("--"))
    pattern = r"\b" + r"\s+".join(rf"{field}:\s+(?P<{field}>.+?)" for field in HEADER_FIELDS) + "$"
    match = re.match(pattern, comment)
    if match is None:
        raise ValueError(f"{path.name}: the header must state {', '.join(HEADER_FIELDS)} in this order")
    return match.groupdict()


def body_of(text: str) -> str:
    """Return what the server is sent of a .sql file: everything but the lines of comment."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def load(path: Path) -> Statement:
    """Read one statement file; raise ValueError when its header is incomplete."""
    text = path.read_text(encoding="utf-8")
    header = _header(path, text)
    return Statement(
        name=path.stem,
        text=body_of(text).strip().rstrip(";"),
        moves=header["Moves"],
        guard=header["Guard"],
        locks=header["Locks"],
        roles=tuple(re.findall(r"exports_\w+", header["Role"])),
        returns=header["Returns"],
    )


def register(directory: Path) -> None:
    """Add every .sql file of a directory to the registry; a name may stand in it only once."""
    for path in sorted(directory.glob("*.sql")):
        statement = load(path)
        if STATEMENTS.setdefault(statement.name, statement) != statement:
            raise ValueError(f"two statements are called {statement.name}")


class _Prepared(psycopg.Cursor[Any]):
    """Sends a statement apart from its parameters, so that a session's server parses and plans it once."""

    def execute(self, query: Any, params: Any = None, **_: Any) -> _Prepared:
        """Prepare it at its first use in this session."""
        return super().execute(cast("LiteralString", query), params, prepare=True)


def _prepared_cursor(using: str) -> CursorWrapper:
    """Return a cursor as Django makes them, its errors, wrappers and health check included, that prepares."""
    connection = connections[using]
    if connection.queries_logged:
        return connection.cursor()  # whoever reads the log wants the statement with its values
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    raw = connection.connection
    raw.prepare_threshold = 0  # Django switches preparing off for its own cursors, which never do it anyway
    return connection.make_cursor(_Prepared(raw))  # type: ignore[arg-type] # Django's stubs want its own class; any cursor does


def fetch_all(name: str, using: str, params: Mapping[str, Any]) -> list[Row]:
    """Run a registered statement and return every row; database errors pass through unchanged.

    For batches: planned anew each time, because the best plan depends on the batch and the bound.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(STATEMENTS[name].text, params)
        return list(cursor.fetchall())


def fetch_one(name: str, using: str, params: Mapping[str, Any]) -> Row | None:
    """Run a registered statement and return its row, or None: the statement changed nothing.

    For what is keyed by one job: prepared once a session, since its plan is always the same.
    """
    with _prepared_cursor(using) as cursor:
        cursor.execute(STATEMENTS[name].text, params)
        rows = list(cursor.fetchall())
    assert len(rows) <= 1, f"{name} touched {len(rows)} rows; it is keyed by one job"  # noqa: S101 - a bug, not the world
    return rows[0] if rows else None


register(Path(__file__).parent)
