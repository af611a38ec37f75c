"""A PgBouncer of a test's own, before the run's PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

import pytest

from config.devstack import ports, waiting
from config.devstack.accounts import service_account

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
START_SECONDS = 30.0


@contextmanager
def pgbouncer(directory: Path, port: int, logins: list[str], mode: str) -> Iterator[int]:
    """Run one in this pool mode before the server on this port, for these logins' URLs; yield where it listens."""
    if PROGRAM is None:
        if os.environ.get("REQUIRE_SERVERS") == "1":
            pytest.fail("REQUIRE_SERVERS=1, but PgBouncer is not installed here")
        pytest.skip("PgBouncer is not installed here")
    account = service_account(directory / "none")  # like PostgreSQL, it refuses to be root
    listens = ports.unused()
    files = {"users": "".join(map(_user, logins)), "ini": _configuration(directory, port, listens, mode)}
    for name, text in files.items():
        (directory / name).write_text(text)
        if account is not None:
            account.own(directory / name)
    log = (directory / "log").open("wb")
    popen = account.popen_arguments() if account else {}
    process = subprocess.Popen([PROGRAM, directory / "ini"], stdout=log, stderr=log, cwd="/", **popen)
    try:
        assert waiting.until(lambda: ports.answers(listens), seconds=START_SECONDS), (directory / "log").read_text()
        yield listens
    finally:
        process.terminate()
        process.wait(20)
        log.close()


def through(port: int, url: str) -> str:
    """Lead a login's URL through the pooler."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{port}")))


def _user(url: str) -> str:
    parts = urlsplit(url)
    return f'"{parts.username}" "{unquote(parts.password or "")}"\n'


def _configuration(directory: Path, port: int, listens: int, mode: str) -> str:
    return f"""\
[databases]
* = host=127.0.0.1 port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listens}
auth_type = scram-sha-256
auth_file = {directory}/users
pool_mode = {mode}
default_pool_size = 10
unix_socket_dir =
"""
