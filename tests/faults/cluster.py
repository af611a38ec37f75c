"""A PostgreSQL of a test module's own, with roles and tables, that may be restarted under everybody's hands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.db import connections

from config.devstack import environment
from config.devstack.postgres import FAST_AND_LOSSY
from config.devstack.provision import provision
from config.devstack.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VARIABLE_OF_ALIAS = {
    "default": "MIGRATION_DATABASE_URL",
    "api": "API_DATABASE_URL",
    "worker": "WORKER_DATABASE_URL",
    "lossy": "WORKER_DATABASE_URL",
    "dispatcher": "DISPATCHER_DATABASE_URL",
}


class Cluster:
    """One server with the project's schema in it."""

    def __init__(self, directory: Path) -> None:
        self._stack = Stack(directory, postgres_options=FAST_AND_LOSSY)
        self._urls: dict[str, str] = {}

    @property
    def port(self) -> int:
        """Where it listens; the same after a restart."""
        return self._stack.postgres.port

    def start(self) -> None:
        """Start it and make roles and tables."""
        self._stack.postgres.start()
        self._urls = environment.variables(self._stack, "config.settings.local")
        provision(self._stack, self._urls)

    def restart(self) -> None:
        """Stop it, ending every session, and start it again on the same port."""
        self._stack.postgres.stop()
        self._stack.postgres.start()

    def end(self) -> None:
        """Stop it and delete it."""
        self._stack.home.remove()

    @contextmanager
    def serving_all_aliases(self) -> Iterator[None]:
        """Point every alias at this server for the time of the block."""
        before = {alias: dict(connections.databases[alias]) for alias in VARIABLE_OF_ALIAS}
        for alias, variable in VARIABLE_OF_ALIAS.items():
            self._point(alias, self._urls[variable])
        try:
            yield
        finally:
            for alias, told in before.items():
                connections[alias].close()
                connections.databases[alias].update(told)

    def _point(self, alias: str, url: str) -> None:
        parts = urlsplit(url)
        connections[alias].close()
        connections.databases[alias].update(
            {"NAME": parts.path.strip("/"), "PASSWORD": parts.password, "PORT": parts.port}
        )
