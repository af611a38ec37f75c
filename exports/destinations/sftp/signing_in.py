"""Signing in: the contract's methods, in the order the server asks for them, and nothing else.

No agent and no key from a home directory is ever offered: they exhaust a server's patience and would let a
delivery depend on who started the worker.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import paramiko

from exports.contracts import Auth, AuthMethod
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect
from exports.destinations.sftp.keys import private_key
from exports.evidence import shown
from exports.secrets import Secret

Step = Callable[[], Sequence[str]]
"""Tries one method; returns the methods the server wants besides, none when it is satisfied."""

_REFUSED: Final = {
    AuthMethod.PASSWORD: "the server refused the user or password",
    AuthMethod.KEY: "the server refused the user or key",
    AuthMethod.KEY_AND_PASSWORD: "the server refused the user, key or password",
    AuthMethod.KEYBOARD_INTERACTIVE: "the server refused the user or the answers to its questions",
    AuthMethod.CERTIFICATE: "the server refused the user or certificate; it may have expired",
}


def sign_in(transport: paramiko.Transport, auth: Auth, secret: Secret) -> None:
    """Sign in by the contract's method, or raise CouldNotConnect. Timeouts and lost connections pass through."""
    steps = _steps(transport, auth, secret)
    try:
        _try_all(steps)
    except paramiko.BadAuthenticationType as error:
        offered = shown(", ".join(error.allowed_types)) or "nothing"
        words = f"the server does not offer {auth.method.replace('_', ' ')} to this user; it offers {offered}"
        raise CouldNotConnect(ConnectTrouble.AUTH_METHOD_NOT_OFFERED, words) from None
    except paramiko.AuthenticationException as error:
        if "timeout" in str(error).lower() or not transport.is_active():
            raise
        raise CouldNotConnect(ConnectTrouble.AUTH_REFUSED, _REFUSED[auth.method] + _expiry(auth)) from None
    if not transport.is_authenticated():
        words = "the server wants more than the contract's method to sign in"
        raise CouldNotConnect(ConnectTrouble.AUTH_METHOD_NOT_OFFERED, words)


def _expiry(auth: Auth) -> str:
    """Say what the contract knows of the credential's end, the likeliest reason for a sudden refusal."""
    if auth.expires_at is None:
        return ""
    over = "was over" if auth.expires_at <= datetime.now(UTC) else "is to last"
    return f"; by the contract the credential {over} on {auth.expires_at:%Y-%m-%d}"


def _try_all(steps: list[Step]) -> None:
    """Take the steps in the server's order: one it does not want yet is tried again after the others."""
    last: paramiko.BadAuthenticationType | None = None
    while steps:
        for step in steps:
            try:
                wanted = step()
            except paramiko.BadAuthenticationType as error:
                last = error
                continue
            steps = [each for each in steps if each is not step] if wanted else []
            break
        else:
            assert last is not None, "every step of a non-empty list was refused"  # noqa: S101 - only a bug
            raise last


def _steps(transport: paramiko.Transport, auth: Auth, secret: Secret) -> list[Step]:
    _require(auth, secret)
    steps: list[Step] = []
    if auth.method.needs_key:
        key = private_key(secret, auth.method)
        steps.append(lambda: transport.auth_publickey(auth.user, key))
    if auth.method is AuthMethod.KEYBOARD_INTERACTIVE:
        steps.append(lambda: transport.auth_interactive(auth.user, _answerer(secret.password)))
    elif auth.method.needs_password:
        # The library falls back to keyboard-interactive for servers that ask for a password only that way.
        steps.append(lambda: transport.auth_password(auth.user, secret.password))
    return steps


def _require(auth: Auth, secret: Secret) -> None:
    missing = {
        "password": auth.method.needs_password and not secret.password,
        "private key": auth.method.needs_key and not secret.private_key,
        "certificate": auth.method is AuthMethod.CERTIFICATE and not secret.certificate,
    }
    lacking = [name for name, lacks in missing.items() if lacks]
    if lacking:
        words = f"the stored secret has no {' and no '.join(lacking)}, which the contract's method needs"
        raise CouldNotConnect(ConnectTrouble.SECRET_UNUSABLE, words)


def _answerer(password: str) -> Callable[[str, str, list[tuple[str, bool]]], list[str]]:
    """Answer hidden questions with the password and visible ones with nothing."""

    def answer(_title: str, _instructions: str, questions: list[tuple[str, bool]]) -> list[str]:
        return ["" if echoed else password for _question, echoed in questions]

    return answer
