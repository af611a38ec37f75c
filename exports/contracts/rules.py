"""What a single value of a contract must satisfy: each rule says in words what is wrong, or nothing."""

import base64
import binascii
import hashlib
import ipaddress
import re
from collections.abc import Callable, Collection
from typing import Final

HOST_KEY_TYPES: Final = frozenset(
    {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"}
)
"""Public key formats a server may prove itself with. An ssh-rsa key signs with SHA-2 or is refused."""

_LABEL: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)", re.ASCII)
_NAME_PART: Final = re.compile(r"[A-Za-z0-9._-]*", re.ASCII)
_MOST_HOST: Final = 253  # RFC 1035
_MOST_PATH: Final = 1024
_MOST_KEY: Final = 16_384  # a 16 kbit RSA key is 2.7 KB of base64; anything longer is not a key
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

IntRule = Callable[[int], str | None]
StrRule = Callable[[str], str | None]


def between(least: int, most: int) -> IntRule:
    """Require a number from `least` to `most`, both included."""

    def rule(value: int) -> str | None:
        return None if least <= value <= most else f"must be from {least} to {most}"

    return rule


def between_or_none(least: int, most: int) -> Callable[[int | None], str | None]:
    """Require a number from `least` to `most`, or nothing at all."""
    inner = between(least, most)
    return lambda value: None if value is None else inner(value)


def text(most: int, least: int = 0) -> StrRule:
    """Require text of `least` to `most` characters without control characters."""

    def rule(value: str) -> str | None:
        if not least <= len(value) <= most:
            return f"must be {least} to {most} characters long"
        return "must not contain control characters" if _CONTROL.search(value) else None

    return rule


def host(value: str) -> str | None:
    """Require a DNS name or an IP address; nothing is resolved here."""
    if not value or _is_address(value):
        return None
    labels = value.removesuffix(".").split(".")
    # A last label of digits would be read as an IPv4 address in one of its old spellings.
    valid = len(value) <= _MOST_HOST and all(map(_LABEL.fullmatch, labels)) and not labels[-1].isdigit()
    return None if valid else "must be a host name or an IP address"


def _is_address(value: str) -> bool:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return False
    return "%" not in str(address)


def directory(value: str) -> str | None:
    """Require a path that stays where it points: no '..', no empty part, no control characters."""
    if not value:
        return None
    parts = value.removeprefix("/").split("/")
    if len(value.encode()) > _MOST_PATH or _CONTROL.search(value) or "\\" in value:
        return f"must be at most {_MOST_PATH} bytes, with neither control characters nor backslashes"
    if value not in ("/", ".") and any(part in ("", ".", "..") for part in parts):
        return "must not contain empty parts, '.' or '..'"
    return None


def name_part(most: int) -> StrRule:
    """Require a piece of a file name that every server and file system takes: letters, digits, . _ -."""

    def rule(value: str) -> str | None:
        if len(value) <= most and _NAME_PART.fullmatch(value) and ".." not in value:
            return None
        return f"must be at most {most} letters, digits, dots, hyphens or underscores, without '..'"

    return rule


def host_key(value: str) -> str | None:
    """Require one line 'type base64' of an OpenSSH public key, of a type that is still safe."""
    parts = value.split()
    if len(value) > _MOST_KEY or len(parts) < 2:  # noqa: PLR2004 - a type and a blob
        return "must be an OpenSSH public key: its type, a space, and base64"
    if parts[0] not in HOST_KEY_TYPES:
        return "must be of type " + ", ".join(sorted(HOST_KEY_TYPES))
    blob = key_blob(value)
    named = len(parts[0]).to_bytes(4, "big") + parts[0].encode()
    return None if blob.startswith(named) else "the base64 part does not hold a key of the type it names"


def key_blob(value: str) -> bytes:
    """Return the binary form of an OpenSSH public key line, empty when it has none."""
    try:
        return base64.b64decode(value.split()[1], validate=True)
    except (IndexError, binascii.Error):
        return b""


def fingerprint(blob: bytes) -> str:
    """Return a public key's fingerprint as ssh-keygen prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def one_of(*choices: str) -> StrRule:
    """Require one of a few texts."""
    return lambda value: None if value in choices else "must be one of " + ", ".join(map(repr, choices))


def distinct(values: Collection[object]) -> str | None:
    """Require a list without repeats."""
    return None if len(set(values)) == len(values) else "must not repeat a value"


def each(rule: Callable[[str], str | None], most: int) -> Callable[[Collection[str]], str | None]:
    """Require at most `most` values that each satisfy `rule`."""

    def whole(values: Collection[str]) -> str | None:
        if len(values) > most:
            return f"at most {most} values are allowed"
        return next((said for value in values if (said := rule(value)) is not None), None)

    return whole
