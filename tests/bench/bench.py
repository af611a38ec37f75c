"""What every part is given: durable servers of its own, the project's processes, and a clean database."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import redis

from config.devstack import binaries, environment
from config.devstack.child import PROCESS, Ending, Program
from config.devstack.partner import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from config.devstack.child import Child
    from config.devstack.stack import Stack

DURABLE = (
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "autovacuum=on",
    # Sizes of a small server; both sides of every ratio run on it.
    "shared_buffers=512MB",
    "max_wal_size=4GB",
)
"""A database that loses nothing when the machine loses power."""

ANALYSED_AFTER_EMPTYING = "export_jobs, deliveries, export_attempt_events, outbox, creation_requests, authorized_files"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the data sets are."""

    finished_jobs: int = 1_000_000
    stale_jobs: int = 1_000_000
    expired_jobs: int = 100_000
    contacts: int = 5_000_000


@dataclass
class Bench:
    """The servers of this run and the variables that lead to them."""

    stack: Stack
    values: Mapping[str, str]
    sizes: Sizes
    report: Callable[[str], None]
    _numbers: dict[str, int] = field(default_factory=dict)

    @property
    def postgres_programs(self) -> Path:
        """Where the server's own client programs are."""
        return binaries.postgres_programs()

    @property
    def directory(self) -> Path:
        """A place for files of the run, on the disk of the database where that is possible."""
        return self.stack.home.directory

    def url(self, role: str = "postgres", database: str = environment.DATABASE) -> str:
        """Return the address of a database for a role (exports_api, …), or for the superuser."""
        return self.stack.postgres.url(role, database)

    @contextmanager
    def session(self, role: str = "postgres", database: str = environment.DATABASE) -> Iterator[psycopg.Connection]:
        """Lend an autocommit session of a role."""
        with psycopg.connect(self.url(role, database), autocommit=True) as connection:
            yield connection

    def empty(self) -> None:
        """Remove every export and message, so that no part measures what another one left."""
        with redis.Redis.from_url(self.values["BROKER_URL"]) as broker:
            broker.flushdb()
        with self.session() as owner:
            owner.execute(
                "TRUNCATE export_jobs, deliveries, export_attempt_events, cancellation_requests, outbox,"
                " creation_requests, terms_changes, export_rejections, authorized_files, holds,"
                " acknowledgments_seen, attempt_progress CASCADE"
            )
            owner.execute(f"VACUUM ANALYZE {ANALYSED_AFTER_EMPTYING}")

    def variables(self, role: str, **told: str) -> dict[str, str]:
        """Return the whole environment of a process of this role (worker, dispatcher, …)."""
        return {**self.values, "PYTHONUNBUFFERED": "1", "EXPORT_ROLE": role, **told}

    @contextmanager
    def process(
        self,
        name: str,
        command: Sequence[str],
        role: str,
        told: Mapping[str, str] | None = None,
        descriptors: tuple[int, ...] = (),
    ) -> Iterator[Child]:
        """Run `python …` as a process of this role until the block ends; its output is a log of that name."""
        self._numbers[name] = self._numbers.get(name, 0) + 1
        unique = f"{name}-{self._numbers[name]}"
        home = self.stack.home
        home.log(unique).unlink(missing_ok=True)
        child = home.children.start(
            Program(
                unique,
                [sys.executable, *command],
                home.log(unique),
                environment=self.variables(role, **(told or {})),
                directory=PROJECT,
                descriptors=descriptors,
                ending=Ending(grace_seconds=20, tier=PROCESS),
            )
        )
        try:
            yield child
        finally:
            home.children.stop(unique)

    def alias(self, name: str, role: str, database: str) -> str:
        """Let Django reach another database under a role's login; return the alias."""
        from django.db import connections  # noqa: PLC0415 - Django is set up after this module is read

        told: dict[str, Any] = {**connections.databases[role], "NAME": database}
        connections.databases[name] = told
        return name


def set_up_django(values: Mapping[str, str]) -> None:
    """Make this process one that may write as any role: the settings of the tests, on the run's own servers."""
    os.environ.update(values)
    os.environ.update({"DJANGO_SETTINGS_MODULE": "config.settings.test", "EXPORT_ROLE": "worker"})
    import django  # noqa: PLC0415 - it reads the environment that was just set

    django.setup()
