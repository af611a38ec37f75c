"""Directories for runs of the servers, deleted afterwards together with what root's runs put elsewhere."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from config.devstack import places
from config.devstack.accounts import Account, service_account

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def directory() -> Iterator[Path]:
    """Return a directory that does not exist yet, in reach of every account, with a space in its path."""
    path = Path(tempfile.gettempdir()) / f"dev stack {secrets.token_hex(4)}"
    yield path
    _delete(path)


@pytest.fixture
def closed() -> Iterator[Path]:
    """Return a directory that does not exist yet, below one that is closed to other accounts."""
    parent = Path(tempfile.mkdtemp(prefix="closed "))
    yield parent / "stack"
    _delete(parent / "stack")
    shutil.rmtree(parent)


@pytest.fixture
def nobody() -> Account:
    """Return the account that root's database server runs as."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can start something as another account, and this needs setpriv")
    account = service_account(Path("/nonexistent"))
    assert account is not None
    return account


def _delete(path: Path) -> None:
    if path.exists():
        places.remove_outside(path)
        shutil.rmtree(path)
