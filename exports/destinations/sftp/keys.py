"""Keys: which of a server's we trust, and how to load our own from stored text without leaking any of it."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from exports.contracts import AuthMethod, HostKey
from exports.contracts.rules import fingerprint
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect
from exports.secrets import Secret

_SIGNATURES: Final = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}
"""Host key algorithms to ask for by key type: an RSA key proves itself with SHA-2 or not at all."""

_OPENSSH: Final = serialization.PrivateFormat.OpenSSH
_OLD_PEM: Final = serialization.PrivateFormat.TraditionalOpenSSL
_CLASSES: Final = (
    (rsa.RSAPrivateKey, paramiko.RSAKey, _OLD_PEM),
    (ed25519.Ed25519PrivateKey, paramiko.Ed25519Key, _OPENSSH),
    (ec.EllipticCurvePrivateKey, paramiko.ECDSAKey, _OLD_PEM),
)
"""Kinds of keys, and the one text form in which the SSH library reads each of them without fail."""

_Key = rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey


def trusted_now(pinned: Sequence[HostKey]) -> tuple[HostKey, ...]:
    """Return the pinned host keys that are valid now; CouldNotConnect when there is none."""
    now = datetime.now(UTC)
    valid = tuple(key for key in pinned if key.valid_at(now))
    if not valid:
        words = "no pinned host key of this contract is valid now; pin the server's current key"
        raise CouldNotConnect(ConnectTrouble.NO_VALID_HOST_KEY, words)
    return valid


def algorithms(pinned: Sequence[HostKey]) -> tuple[str, ...]:
    """Return the host key algorithms to negotiate: only those a pinned key can prove itself with."""
    return tuple(dict.fromkeys(name for key in pinned for name in _SIGNATURES.get(key.type, (key.type,))))


def require_pinned(pinned: Sequence[HostKey], proven: paramiko.PKey) -> str:
    """Return the fingerprint of the key the server proved, or refuse it when it is not pinned."""
    blob = proven.asbytes()
    if any(key.blob == blob for key in pinned):
        return fingerprint(blob)
    words = (
        f"the server proved itself with {proven.get_name()} {fingerprint(blob)}, but pinned are "
        + ", ".join(f"{key.type} {key.fingerprint}" for key in pinned)
        + "; ask the partner whether the key was changed before pinning the new one"
    )
    raise CouldNotConnect(ConnectTrouble.HOST_KEY_CHANGED, words)


def private_key(secret: Secret, method: AuthMethod) -> paramiko.PKey:
    """Load our own key from its stored text. Errors say what is wrong and contain nothing of it."""
    key = _loaded(secret)
    if method is AuthMethod.CERTIFICATE:
        _certify(key, secret.certificate)
    return key


def _loaded(secret: Secret) -> paramiko.PKey:
    """Parse any usual text form, and hand the key on in the one form that its class reads reliably."""
    parsed = _parsed(secret.private_key.encode(), secret.passphrase.encode() or None)
    for kind, cls, form in _CLASSES:
        if isinstance(parsed, kind):
            return cls.from_private_key(io.StringIO(_rewritten(parsed, form)))
    raise _unusable("the stored private key is of a kind that is not supported (RSA, Ed25519 and ECDSA are)")


def _rewritten(key: _Key, form: serialization.PrivateFormat) -> str:
    """Return the key in another text form, in memory only."""
    clear = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, clear).decode()


def _parsed(text: bytes, passphrase: bytes | None) -> object:
    for load in (serialization.load_ssh_private_key, serialization.load_pem_private_key):
        try:
            return load(text, passphrase)
        except TypeError:
            words = "has no passphrase" if passphrase else "needs its passphrase"
            raise _unusable(f"the stored private key {words}") from None
        except (ValueError, UnsupportedAlgorithm):
            continue
    raise _unusable("the stored private key is unreadable, or its passphrase is wrong")


def _certify(key: paramiko.PKey, certificate: str) -> None:
    try:
        key.load_certificate(certificate)
    except (ValueError, paramiko.SSHException):
        raise _unusable("the stored certificate does not belong to the stored private key") from None


def _unusable(words: str) -> CouldNotConnect:
    return CouldNotConnect(ConnectTrouble.SECRET_UNUSABLE, words)
