"""What a build says when it could not be done: a sentence for the history, and never a contact's data.

The words of a database error may quote a value, or the whole row, so none of them are passed on.
"""

from __future__ import annotations

import errno
from typing import Final

import psycopg

from exports.errors import ExportError

_BY_STATE: Final = {
    "57014": "The database cancelled the build: it took too long, or an administrator ended it.",
    "55P03": "The contacts stayed locked by somebody else for too long.",
    "42501": "The worker's database role may not read the contact source; grant it SELECT.",
    "42P01": "A table of the contact source does not exist.",
    "42703": "A column of the contact source does not exist.",
    "53100": "The disk of the database is full.",
}
"""SQLSTATE to what an operator can do something about."""

_BY_CLASS: Final = {
    "08": "The connection to the database was lost.",
    "53": "The database has no room for the build: connections, memory or disk.",
    "57": "The database was shut down, or ended the build's session.",
}

_BY_ERRNO: Final = {
    errno.ENOSPC: "The disk of the spool directory is full.",
    errno.EDQUOT: "The disk quota of the spool directory is used up.",
    errno.EEXIST: "A file of this attempt already exists in the spool directory.",
}


def words_for(error: Exception) -> str:
    """Return what to record for this failure."""
    if isinstance(error, ExportError):
        return str(error)
    if isinstance(error, psycopg.Error):
        return _database_words(error)
    if isinstance(error, OSError):
        name = errno.errorcode.get(error.errno or 0, type(error).__name__)
        return _BY_ERRNO.get(error.errno or 0, f"The file could not be written to the spool directory: {name}.")
    return f"The file could not be built: {type(error).__name__}."


def without_words(error: Exception) -> Exception:
    """Return the cause as it may be logged: a database error keeps its class, SQLSTATE and place, nothing more."""
    if isinstance(error, psycopg.Error):
        error.args = (f"SQLSTATE {error.sqlstate}",)
    return error


def _database_words(error: psycopg.Error) -> str:
    state = error.sqlstate or ""
    if state:
        known = _BY_STATE.get(state) or _BY_CLASS.get(state[:2])
        return known or f"The database refused the build's query (SQLSTATE {state})."
    return "The database could not be reached, or the connection was lost."
