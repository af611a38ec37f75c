"""The form of a contract: every field of it, typed; what is wrong is said by the contract itself, field by field."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from exports.admin.agreed.changes import fingerprint_of
from exports.admin.agreed.fields import CHOICES, GROUPS, Rows, Words
from exports.admin.agreed.plain import get, put, type_at
from exports.admin.forms import ActForm, hidden_id, lines
from exports.contracts import Contract, ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from django.forms.boundfield import BoundField

SPARE_ROWS: Final = 2
"""Empty records offered beyond those there are; more are offered once these are filled."""
MOST_ROWS: Final = 40
"""Records of one list that are read from a request; a real contract has a handful."""
LONGEST_KEY: Final = 16_384
"""Characters of a public key's line, as the contract bounds it."""
WHEN: Final = "%Y-%m-%dT%H:%M:%S"


class ContractForm(ActForm):
    """One version of a contract; `base` is what it starts from, `given` what nobody types in."""

    contract_id = hidden_id()
    looked_at = forms.IntegerField(widget=forms.HiddenInput(), min_value=0)
    reason = lines("Why", help_text="Kept with this version for good.")

    def __init__(self, data: Any, *, base: dict[str, Any], given: Mapping[str, Any], **named: Any) -> None:
        super().__init__(data, **named)
        self.base, self.given = base, given
        self.contract: Contract | None = None
        for group in GROUPS:
            for part in group.parts:
                self._add(part)
        self.order_fields([*(name for name in self.fields if name != "reason"), "reason"])

    @property
    def sections(self) -> Iterator[tuple[Any, list[tuple[str, list[BoundField]]]]]:
        """Each group with its parts: a heading where it is a record of a list, and its fields."""
        for group in GROUPS:
            yield group, [each for part in group.parts for each in self._shown(part)]

    def _shown(self, part: Words | Rows) -> list[tuple[str, list[BoundField]]]:
        if isinstance(part, Words):
            return [("", [self[part.path]])]
        rows = range(self._count(part))
        return [(f"{part.one} {at + 1}", [self[f"{part.path}.{at}.{one.path}"] for one in part.fields]) for at in rows]

    def _add(self, part: Words | Rows) -> None:
        if isinstance(part, Words):
            self._add_field(part.path, part.path, part, get(self.base, part.path))
            return
        there = get(self.base, part.path) or []
        for at in range(self._count(part)):
            row = there[at] if at < len(there) else {}
            for one in part.fields:
                self._add_field(f"{part.path}.{at}.{one.path}", f"{part.path}.{one.path}", one, row.get(one.path))
            if part.path == "host_keys" and row:
                self.fields[f"{part.path}.{at}.key"].help_text = f"In that version: {fingerprint_of(row['key'])}"

    def _add_field(self, name: str, path: str, words: Words, value: Any) -> None:
        self.fields[name] = field_for(type_at(path), words)
        self.initial[name] = _as_shown(value)

    def _count(self, part: Rows) -> int:
        """Return how many records are on the page: as many as were sent, or those there are and some to spare."""
        pattern = re.compile(re.escape(part.path) + r"\.(\d{1,3})\.")
        sent = [int(found[1]) + 1 for key in (self.data or {}) if (found := pattern.match(key))]
        wanted = max(sent) if sent else len(get(self.base, part.path) or []) + SPARE_ROWS
        return min(wanted, MOST_ROWS)

    def clean(self) -> dict[str, Any]:
        """Read the contract; whatever it says is wrong stands at its field."""
        if self.errors:
            return self.cleaned_data
        terms, places = self._terms()
        try:
            self.contract = Contract.from_json(terms)
        except ContractError as error:
            for path, said in error.errors.items():
                place = self._place_of(path, places)
                lead = f"“{self.fields[place].label}”: " if place else ""
                self.add_error(place, [f"{lead}{each}" for each in said])
        return self.cleaned_data

    def _terms(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the plain terms, and where on the page each record of a list stands."""
        terms: dict[str, Any] = {}
        places: dict[str, str] = {}
        for group in GROUPS:
            for part in group.parts:
                if isinstance(part, Words):
                    put(terms, part.path, _as_plain(self.cleaned_data[part.path], type_at(part.path)))
                else:
                    put(terms, part.path, self._rows(part, places))
        for path, value in self.given.items():
            put(terms, path, value)
        return terms, places

    def _rows(self, part: Rows, places: dict[str, str]) -> list[dict[str, Any]]:
        """Return the records whose first field is filled in."""
        found: list[dict[str, Any]] = []
        for at in range(self._count(part)):
            here = f"{part.path}.{at}"
            row = {one.path: _as_plain(self.cleaned_data[f"{here}.{one.path}"]) for one in part.fields}
            if row[part.fields[0].path]:
                places[f"{part.path}.{len(found)}"] = here
                found.append(row)
        return found

    def _place_of(self, path: str, places: dict[str, str]) -> str | None:
        """Return the field that a problem is about: itself, the first of its group, or the form as a whole."""
        for record, place in places.items():
            if path == record or path.startswith(f"{record}."):
                path = place + path.removeprefix(record)
                break
        inside = (name for name in self.fields if name.startswith(f"{path}."))
        return path if path in self.fields else next(inside, None)

    def _anchor(self, name: str) -> str:
        return "act-form" if name == NON_FIELD_ERRORS else super()._anchor(name)


def field_for(kind: Any, words: Words) -> forms.Field:
    """Return the form field for a value of this type."""
    named: dict[str, Any] = {"label": words.label, "help_text": words.hint}
    if kind is bool:
        return forms.BooleanField(required=False, **named)
    if words.choices:
        return forms.ChoiceField(choices=words.choices, **named)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return forms.ChoiceField(
            choices=[(str(each.value), CHOICES.get(str(each.value), str(each.value))) for each in kind], **named
        )
    if get_origin(kind) is tuple:
        return forms.CharField(required=False, widget=forms.Textarea({"rows": 5, "cols": 40}), **named)
    return _optional(kind, named)


def _optional(kind: Any, named: dict[str, Any]) -> forms.Field:
    inner = next(each for each in get_args(kind) if each is not type(None)) if isinstance(kind, UnionType) else kind
    if inner is int:
        return forms.IntegerField(required=inner is kind, **named)
    if inner is datetime:
        moment = forms.DateTimeInput({"type": "datetime-local", "step": "1"}, format=WHEN)
        return forms.DateTimeField(required=False, widget=moment, **named)
    widget = forms.TextInput({"size": 50, "autocomplete": "off"})
    return forms.CharField(required=False, max_length=LONGEST_KEY, widget=widget, **named)


def _as_shown(value: Any) -> Any:
    if isinstance(value, list):
        return "\n".join(value)
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*", value):
        return datetime.fromisoformat(value).astimezone(UTC)
    return value


def _as_plain(value: Any, kind: Any = str) -> Any:
    if get_origin(kind) is tuple:
        return [line.strip() for line in value.splitlines() if line.strip()]
    return value.isoformat() if isinstance(value, datetime) else value
