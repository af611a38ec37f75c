"""Names of an attempt's files at the partner: the final one from the key alone, a temporary one per attempt."""

import re
from typing import Final
from uuid import UUID

from exports.contracts import Contract

_ATTEMPT: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_UUID: Final = "-".join(f"[0-9a-f]{{{digits}}}" for digits in (8, 4, 4, 4, 12))
_FINAL: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}|\.[A-Za-z0-9_-][A-Za-z0-9._-]{0,253}", re.ASCII)


def temporary_name(contract: Contract, final_name: str, attempt_id: str) -> str:
    """Return the temporary name of this attempt, which no other attempt has: a leftover is never reopened.

    Servers that forbid overwriting also forbid opening our own leftover again, and a paused worker may still
    be writing to its own.
    """
    # Checked here and not only where names are made: a path must never leave its directory.
    if not is_plain(final_name) or not _ATTEMPT.fullmatch(attempt_id):
        raise ValueError("a name at the partner is made of a delivery key, an attempt and the contract's parts")
    return f"{contract.paths.temporary_prefix}{final_name}.{attempt_id}{contract.paths.temporary_suffix}"


def attempt_in(contract: Contract, name: str) -> tuple[str, UUID] | None:
    """Return the delivery key and the attempt of a temporary name of an export's file; None for any other name."""
    paths = contract.paths
    parts = (paths.temporary_prefix, paths.final_prefix, paths.final_suffix, paths.temporary_suffix)
    before, key_starts, key_ends, after = map(re.escape, parts)
    found = re.fullmatch(f"{before}{key_starts}([A-Za-z0-9-]+){key_ends}\\.({_UUID}){after}", name, re.ASCII)
    return None if found is None else (found[1], UUID(found[2]))


def is_plain(name: str) -> bool:
    """Whether a name is one plain path component of letters, digits, dots, hyphens and underscores."""
    return _FINAL.fullmatch(name) is not None and ".." not in name


def path_of(directory: str, name: str) -> str:
    """Join a contract's directory and a plain name as a path at the server."""
    return name if directory in ("", ".") else f"{directory.rstrip('/')}/{name}"


def temporary_path(contract: Contract, name: str) -> str:
    """Return where a temporary name lies."""
    return path_of(contract.paths.temporary_directory or contract.paths.directory, name)


def final_path(contract: Contract, name: str) -> str:
    """Return where a final name lies."""
    return path_of(contract.paths.directory, name)
