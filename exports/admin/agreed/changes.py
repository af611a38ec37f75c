"""What two versions of a contract differ in, in the words of its form; host keys as fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from exports.admin.agreed.fields import CHOICES, GROUPS, Rows, Words
from exports.admin.agreed.plain import get, type_at
from exports.contracts import HostKey
from exports.evidence import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTHING = "—"
LONGEST_SHOWN = 400
CREDENTIAL = "auth.secret_id"
PROBED = "publish.probed"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is another than before; `before` or `after` is a dash where there is none."""

    label: str
    before: str
    after: str


def changes(before: dict[str, Any] | None, after: dict[str, Any]) -> list[Change]:
    """Return what is different, in the order of the form; of a first version, everything there is."""
    old = told(before) if before is not None else {}
    new = told(after)
    labels = [*new, *(label for label in old if label not in new)]
    pairs = ((label, old.get(label, NOTHING), new.get(label, NOTHING)) for label in labels)
    return [Change(*each) for each in pairs if each[1] != each[2]]


def told(terms: dict[str, Any]) -> dict[str, str]:
    """Return a version of a contract as a person reads it: label to words."""
    found: dict[str, str] = {}
    for group in GROUPS:
        for part in group.parts:
            found |= {f"{group.lead}{label}": words for label, words in _told(part, terms)}
    return found | dict(_server_set(terms))


def _told(part: Words | Rows, terms: dict[str, Any]) -> Iterator[tuple[str, str]]:
    value = get(terms, part.path)
    if isinstance(part, Words):
        yield part.label, words_for(value, part.path, part.choices)
        return
    for at, row in enumerate(value or []):
        first, *others = part.fields
        lead = fingerprint_of(row["key"]) if part.path == "host_keys" else row[first.path]
        label = f"{part.one} {lead}" if part.path != "payload.filters" else f"{part.one} ({at + 1})"
        fields = part.fields if part.path == "payload.filters" else others
        said = (f"{one.label.lower()} {_in_row(row, part, one)}" for one in fields if row.get(one.path))
        yield label, "; ".join(said) or ("pinned" if part.path == "host_keys" else "yes")


def _in_row(row: dict[str, Any], part: Rows, one: Words) -> str:
    return words_for(row[one.path], f"{part.path}.{one.path}")


def _server_set(terms: dict[str, Any]) -> Iterator[tuple[str, str]]:
    secret_id = get(terms, CREDENTIAL)
    if secret_id:
        yield "Stored credential", f"no. {secret_id[:8]}"
    probed = get(terms, PROBED) or {}
    if probed.get("probed_at"):
        seen = [words for name, words in _SEEN.items() if probed.get(name)]
        yield "Seen by a test", f"{_moment(probed['probed_at'])}: {', '.join(seen) or 'nothing to build upon'}"


_SEEN = {
    "rename_refuses_existing": "rename refuses a taken name",
    "link_is_honest": "links are honest",
    "exclusive_create_refuses": "exclusive creation refuses a taken name",
}


def words_for(value: Any, path: str, choices: tuple[tuple[str, str], ...] = ()) -> str:
    """Return one value in words; what a stranger could have put into it is made visible."""
    if value in (None, "", []):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    kind = type_at(path)
    if choices or (isinstance(kind, type) and issubclass(kind, Enum)):
        return dict(choices).get(value) or CHOICES.get(value, str(value))
    if isinstance(value, list):
        return shown(", ".join(value), LONGEST_SHOWN)
    return _moment(value) if path.endswith(("_at", "valid_from", "valid_to")) else shown(str(value), LONGEST_SHOWN)


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def fingerprint_of(line: str) -> str:
    """Return a public key's type and fingerprint, as the partner reads them out."""
    key = HostKey(line)
    return f"{key.type} {key.fingerprint}" if line.strip() else NOTHING
