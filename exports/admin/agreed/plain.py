"""A contract's plain values by path, and the type that each path has."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from exports.contracts import Contract


def get(terms: Any, path: str) -> Any:
    """Return what stands at a path of nested plain values, None when nothing does."""
    for name in path.split("."):
        terms = terms.get(name) if isinstance(terms, dict) else None
    return terms


def put(terms: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a path, making the groups on the way."""
    *groups, name = path.split(".")
    for group in groups:
        terms = terms.setdefault(group, {})
    terms[name] = value


@cache
def type_at(path: str) -> Any:
    """Return the declared type of a field of the contract; of a list's records, by the path without a number."""
    found: Any = Contract
    for name in path.split("."):
        found = get_type_hints(found)[name]
        if get_origin(found) is tuple and is_dataclass(get_args(found)[0]):
            found = get_args(found)[0]
    return found


def all_paths(owner: Any = Contract, under: str = "") -> set[str]:
    """Return the path of every field that holds a value."""
    found = set()
    for name in get_type_hints(owner) if owner is not Contract else Contract.__dataclass_fields__:
        here = f"{under}{name}"
        kind = type_at(here)
        found |= all_paths(kind, f"{here}.") if is_dataclass(kind) else {here}
    return found
