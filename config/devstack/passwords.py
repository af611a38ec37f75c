"""The secrets of one directory, made once and kept with it."""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BYTES = 24  # 192 bits: nobody guesses one on loopback


def new_password() -> str:
    """Return a secret that needs no quoting in an address, a shell or a configuration file."""
    return secrets.token_hex(_BYTES)


def short_password() -> str:
    """Return a secret a person can type: 96 bits in groups of six."""
    text = secrets.token_hex(12)
    return "-".join(text[at : at + 6] for at in range(0, len(text), 6))


def write_private(file: Path, text: str) -> None:
    """Replace `file` by `text`, readable by this account alone at every moment, whole or not at all."""
    draft = file.with_name(f".{file.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)


class Passwords:
    """Secrets by name; the first question for a name makes its secret."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, name: str, make: Callable[[], str] = new_password) -> str:
        """Return the secret called `name`."""
        known = self._read()
        if name not in known:
            known[name] = make()
            write_private(self._file, json.dumps(known, indent=1))
        return known[name]

    def _read(self) -> dict[str, str]:
        return dict(json.loads(self._file.read_text())) if self._file.exists() else {}
