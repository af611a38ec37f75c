"""Frozen dataclasses to plain JSON values and back, with every problem named by its field.

One small codec serves the contract of a destination and the evidence of an attempt, so that both are read
with the same strictness: unknown fields, wrong types and values out of bounds are problems, never guesses.
Supported: str, int, bool, datetime (with a zone), enums (by value), `T | None`, `tuple[T, ...]`, dataclasses,
and unions of dataclasses told apart by a class attribute `KIND` that is written as `"kind"`.
"""

import types
from collections.abc import Callable
from dataclasses import MISSING, Field, field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

Rule = Callable[[Any], str | None]
"""Says in words what is wrong with a value, or None when nothing is."""

Problems = dict[str, list[str]]
"""Field path ('paths.directory', 'host_keys.0.key') to what is wrong with it."""

T = TypeVar("T")

_RULES: Final = "rules"
_INVALID: Final = object()


def ruled(*rules: Rule, default: Any = MISSING) -> Any:
    """Declare a dataclass field whose value must satisfy `rules`; without `default` it is required."""
    return field(default=default, metadata={_RULES: rules})


def to_plain(value: Any) -> Any:
    """Turn a dataclass, enum, datetime, tuple or scalar into what `json.dumps` takes."""
    if is_dataclass(value) and not isinstance(value, type):
        plain = {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
        kind = getattr(value, "KIND", None)
        return plain if kind is None else {"kind": kind, **plain}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [to_plain(each) for each in value]
    return value


def from_plain(wanted: type[T], raw: object, problems: Problems) -> T | None:
    """Read `raw` as the dataclass `wanted`; fill `problems` and return None when that is not possible."""
    value = _read(wanted, raw, "", problems)
    return None if problems or value is _INVALID else value


def _read(wanted: Any, raw: object, path: str, problems: Problems) -> Any:
    if is_dataclass(wanted):
        return _read_dataclass(wanted, raw, path, problems)
    if get_origin(wanted) in (types.UnionType, Union):
        return _read_union(get_args(wanted), raw, path, problems)
    if get_origin(wanted) is tuple:
        return _read_tuple(get_args(wanted)[0], raw, path, problems)
    return _read_scalar(wanted, raw, path, problems)


def _read_dataclass(wanted: Any, raw: object, path: str, problems: Problems) -> Any:
    if not isinstance(raw, dict):
        return _wrong(path, "an object is expected", problems)
    names = {each.name for each in fields(wanted)} | ({"kind"} if hasattr(wanted, "KIND") else set())
    for unknown in sorted(str(key) for key in raw if key not in names):
        _wrong(_join(path, unknown[:60]), "no such field", problems)
    values = {each.name: _read_field(wanted, each, raw, path, problems) for each in fields(wanted)}
    return _INVALID if _INVALID in values.values() else wanted(**values)


def _read_field(owner: Any, each: "Field[Any]", raw: dict[str, object], path: str, problems: Problems) -> Any:
    here = _join(path, each.name)
    if each.name not in raw:
        return _default(each, here, problems)
    value = _read(_hints(owner)[each.name], raw[each.name], here, problems)
    if value is _INVALID:
        return value
    found = [said for rule in each.metadata.get(_RULES, ()) if (said := rule(value)) is not None]
    for said in found:
        _wrong(here, said, problems)
    return _INVALID if found else value


def _default(each: "Field[Any]", here: str, problems: Problems) -> Any:
    if each.default is not MISSING:
        return each.default
    if each.default_factory is not MISSING:
        return each.default_factory()
    return _wrong(here, "this field is required", problems)


def _read_union(members: tuple[Any, ...], raw: object, path: str, problems: Problems) -> Any:
    if raw is None and types.NoneType in members:
        return None
    choices = [each for each in members if each is not types.NoneType]
    if len(choices) == 1:
        return _read(choices[0], raw, path, problems)
    kind = raw.get("kind") if isinstance(raw, dict) else None
    for each in choices:
        if kind == each.KIND:
            return _read(each, raw, path, problems)
    return _wrong(path, "kind must be one of " + ", ".join(each.KIND for each in choices), problems)


def _read_tuple(member: Any, raw: object, path: str, problems: Problems) -> Any:
    if not isinstance(raw, list | tuple):
        return _wrong(path, "a list is expected", problems)
    values = tuple(_read(member, each, _join(path, str(at)), problems) for at, each in enumerate(raw))
    return _INVALID if _INVALID in values else values


def _read_scalar(wanted: Any, raw: object, path: str, problems: Problems) -> Any:
    if issubclass(wanted, Enum):
        return _read_enum(wanted, raw, path, problems)
    if wanted is datetime:
        return _read_datetime(raw, path, problems)
    # bool is an int to Python, but `true` is no port number.
    if isinstance(raw, wanted) and (wanted is bool or not isinstance(raw, bool)):
        return raw
    words = {str: "text", int: "a whole number", bool: "true or false"}[wanted]
    return _wrong(path, f"{words} is expected", problems)


def _read_enum(wanted: type[Enum], raw: object, path: str, problems: Problems) -> Any:
    for member in wanted:
        if member.value == raw and type(member.value) is type(raw):
            return member
    return _wrong(path, "must be one of " + ", ".join(str(each.value) for each in wanted), problems)


def _read_datetime(raw: object, path: str, problems: Problems) -> Any:
    try:
        read = datetime.fromisoformat(raw) if isinstance(raw, str) else None
    except ValueError:
        read = None
    if read is None or read.tzinfo is None:
        return _wrong(path, "a time with its zone is expected, as in 2030-01-31T12:00:00+00:00", problems)
    return read


def _wrong(path: str, words: str, problems: Problems) -> Any:
    problems.setdefault(path, []).append(words)
    return _INVALID


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


@cache
def _hints(owner: Any) -> dict[str, Any]:
    return get_type_hints(owner)
