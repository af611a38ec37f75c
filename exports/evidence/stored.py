"""Evidence as versioned JSON text for an event's detail, and back without ever failing.

What is stored may come from an older or newer version of this program, or from hands. Reading it is total:
anything that is not exactly a known record becomes `Unreadable`, which proves nothing.
"""

import json
from typing import Any, Final, get_args

from exports.evidence.records import Evidence, Unreadable
from exports.typed_json import Problems, from_plain, to_plain

VERSION: Final = 1
"""Version of the stored form; a reader treats any other as unreadable."""

LONGEST_DETAIL: Final = 65_536
"""Characters of a detail that are parsed at all; every record of ours stays far below."""

_KINDS: Final[dict[str, Any]] = {each.KIND: each for each in get_args(Evidence)}


def encode(record: Evidence) -> str:
    """Return the text to store for `record`; `decode` gives it back equal."""
    return json.dumps({"v": VERSION, **to_plain(record)}, ensure_ascii=False, separators=(",", ":"))


def decode(detail: str | None) -> Evidence:
    """Return the record that `detail` holds, or `Unreadable` with why it is none."""
    text = detail or ""
    if len(text) > LONGEST_DETAIL:
        return Unreadable("the detail is too long", text)
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return Unreadable("the detail is no JSON", text)
    return _record(plain, text)


def _record(plain: object, text: str) -> Evidence:
    version = plain.pop("v", None) if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or version != VERSION or isinstance(version, bool):
        return Unreadable("the detail has no known version", text)
    wanted = _KINDS.get(str(plain.get("kind")))
    if wanted is None:
        return Unreadable("the detail is of no known kind", text)
    problems: Problems = {}
    record: Evidence | None = from_plain(wanted, plain, problems)
    return record if record is not None else Unreadable("fields are wrong: " + ", ".join(problems), text)
