"""Stored sign-in secrets of destinations, encrypted under a keyring of their own. Pure: keys are passed in.

The keyring is a list of Fernet keys, newest first: new secrets are encrypted with the first, any of them
decrypts, and `rotate` brings an old token under the newest key. A secret's text appears in no repr, no log
and no error message.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Self

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from exports.errors import ExportError

_LONGEST: Final = 65_536  # characters of one secret as JSON; the longest real one, a key, is below 20,000


class SecretError(ExportError):
    """A secret could not be encrypted or read. The message never holds any part of it."""


@dataclass(frozen=True)
class Secret:
    """What signs in at one destination; which parts are needed is the contract's method.

    `private_key` and `certificate` are in OpenSSH or PEM text form, `passphrase` belongs to the private key.
    """

    password: str = field(default="", repr=False)
    private_key: str = field(default="", repr=False)
    passphrase: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the JSON form; unknown or non-text fields are a SecretError that names the field alone."""
        try:
            plain = json.loads(text)
        except ValueError:
            plain = None
        if not isinstance(plain, dict):
            raise SecretError("the stored secret has no known form")
        known = set(cls.__dataclass_fields__)
        if not set(plain) <= known or not all(isinstance(value, str) for value in plain.values()):
            raise SecretError("the stored secret has unknown fields")
        return cls(**plain)

    def to_text(self) -> str:
        """Return the JSON form with the parts that are set; keep it out of everything but `encrypt`."""
        return json.dumps({name: value for name, value in asdict(self).items() if value})


def encrypt(secret: Secret, keys: Sequence[str]) -> bytes:
    """Return the token to store, under the newest key."""
    text = secret.to_text()
    if len(text) > _LONGEST:
        raise SecretError("the secret is too long to be one")
    return _ring(keys).encrypt(text.encode())


def decrypt(token: bytes, keys: Sequence[str]) -> Secret:
    """Return the secret of a stored token; SecretError when no key of the ring fits."""
    try:
        text = _ring(keys).decrypt(token)
    except InvalidToken:
        # `from None`: the token is in the library's frames, and tracebacks are logged.
        raise SecretError("no key of the ring decrypts this secret") from None
    return Secret.from_text(text.decode())


def rotate(token: bytes, keys: Sequence[str]) -> bytes:
    """Return the same secret under the newest key, without ever making its text an object of ours."""
    try:
        return _ring(keys).rotate(token)
    except InvalidToken:
        raise SecretError("no key of the ring decrypts this secret") from None


def new_key() -> str:
    """Return a fresh key for the front of the ring."""
    return Fernet.generate_key().decode()


def _ring(keys: Sequence[str]) -> MultiFernet:
    if not keys:
        raise SecretError("no credential key is set")
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        raise SecretError("a credential key is no Fernet key") from None
