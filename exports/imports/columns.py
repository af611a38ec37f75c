"""Which column of a file is which of a contact: by the user's word, else by the names CRMs give their columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from exports.imports.problems import ImportRefused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY: Final = "external_id"

ALIASES: Final[dict[str, str]] = {
    "external_id": "external_id id contact_id customer_id crm_id record_id customer_number kundennummer",
    "email": "email e_mail mail email_address e_mail_address",
    "given_name": "given_name first_name firstname forename vorname prenom",
    "family_name": "family_name last_name lastname surname nachname nom",
    "phone": "phone phone_number telephone tel mobile mobile_phone telefon",
    "company": "company company_name organization organisation account account_name employer firma",
    "country": "country country_code country_region land pays",
    "notes": "notes note comment comments remark remarks description notizen",
}
"""Names a column may have in the file, compared without case, spaces and punctuation."""

COLUMNS: Final = tuple(ALIASES)
"""The columns of a contact that can be loaded, the CRM's own key first."""

_BY_ALIAS: Final = {alias: column for column, aliases in ALIASES.items() for alias in aliases.split()}


def match_columns(header: Sequence[str], told: Mapping[str, str]) -> dict[str, int]:
    """Return column to position for a file's header; `told` maps names in the file to columns and goes first.

    ImportRefused when a name is told that the file or a contact does not have, when two positions claim one
    column, or when there is no key. A file without a header has contacts in its place: none of it is repeated.
    """
    names = [_plain(name) for name in header]
    wanted = {_plain(name): column for name, column in told.items()}
    _refuse_unknown(names, told)
    found: dict[str, int] = {}
    for position, name in enumerate(names):
        column = wanted.get(name) or _by_alias(name, set(wanted.values()))
        if column is not None:
            _claim(found, column, position)
    if KEY not in found:
        raise ImportRefused(
            f"No column in the first line is an {KEY} (or {ALIASES[KEY].replace(' ', ', ')});"
            f" name it with --map NAME={KEY}."
        )
    return found


def _by_alias(name: str, taken: set[str]) -> str | None:
    column = _BY_ALIAS.get(name)
    return None if column in taken else column


def _claim(found: dict[str, int], column: str, position: int) -> None:
    first = found.setdefault(column, position)
    if first != position:
        raise ImportRefused(
            f"Columns {first + 1} and {position + 1} of the file are both {column}: choose with --map NAME={column}."
        )


def _refuse_unknown(names: list[str], told: Mapping[str, str]) -> None:
    for name, column in told.items():
        if column not in COLUMNS:
            raise ImportRefused(f"--map {name}={column}: a contact has {', '.join(COLUMNS)}.")
        if _plain(name) not in names:
            raise ImportRefused(f"--map {name}={column}: the first line of the file has no such column.")


def _plain(name: str) -> str:
    """Return a name as it is compared: lower case, words joined by underscores."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")
