"""A real OpenSSH server to deliver to, and what a contract with it says."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import programs
from tests.bench.places import Place, a_place
from tests.destinations.openssh import PROGRAM, Sshd, sshd

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def openssh() -> Iterator[Sshd]:
    """Run a server until the block ends; Skipped when there is no sshd."""
    if PROGRAM is None:
        programs.find("sshd")  # which says so
    directory = Path(tempfile.mkdtemp(prefix="bench-partner-"))
    directory.chmod(0o755)
    try:
        with sshd(directory / "server") as server:
            yield server
    finally:
        shutil.rmtree(directory)


def destination_at(server: Sshd) -> Place:
    """Make a tenant with a few contacts, and a destination at this server that reads back what it wrote."""
    terms = server.partner.contract(
        permissions={"may_read": True}, verification={"read_back": True}, limits={"idle_timeout_seconds": 60}
    )
    return a_place(terms, server.partner.secret)


def connections_made(server: Sshd) -> int:
    """Return how often somebody signed in, as the server's own log has it."""
    return (server.directory / "sshd.log").read_text(errors="replace").count("Accepted publickey")
