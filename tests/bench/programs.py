"""Programs of other projects that the product is measured against."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.bench.figures import Skipped

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.bench import Bench

PLACES = (os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/lib/postgresql/15/bin")


def find(name: str, *first: Path) -> str:
    """Return a program's path, looked for in `first` and then on this machine; Skipped when there is none."""
    places = os.pathsep.join([*map(str, first), *PLACES])
    program = shutil.which(name, path=places)
    if program is None:
        raise Skipped(f"{name} is not installed")
    return program


def postgres_client(bench: Bench, name: str) -> str:
    """Return psql or pgbench: of the server's own release where the wheel has it."""
    return find(name, bench.postgres_programs)


def run(command: list[str], url: str | None = None, *, seconds: float = 600) -> str:
    """Run to its end and return what it printed; with `url`, the server is in its environment, not on the line."""
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    if url is not None:
        parts = urlsplit(url)
        environment |= {
            "PGHOST": parts.hostname or "",
            "PGPORT": str(parts.port),
            "PGUSER": parts.username or "",
            "PGPASSWORD": parts.password or "",
            "PGDATABASE": parts.path.lstrip("/"),
        }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=seconds)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout
