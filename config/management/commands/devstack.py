"""`manage.py devstack DIR`: the embedded servers in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from config.devstack.errors import DevstackError
from config.devstack.waiting import StopSignals

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Starts PostgreSQL, a broker and a partner in DIR, migrates, writes DIR/env, prints `ready`, serves."""

    help = "Start the embedded servers in DIR; DIR/env holds what processes need. Ends on SIGINT or SIGTERM."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the directory."""
        parser.add_argument("directory", type=Path, metavar="DIR", help="made if missing; a restart keeps its data")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Serve until a signal; exit code 1 and one sentence when that is impossible."""
        # Signals first: a Ctrl-C during the imports below is then a request too. These two need no package.
        signals = StopSignals()
        signals.install()
        try:
            from config.devstack.run import run  # noqa: PLC0415 - the servers are optional packages

            run(options["directory"], self._report, signals)
        except DevstackError as error:
            raise CommandError(str(error)) from error
        except ImportError as error:
            raise CommandError(f"{error.name} is not installed; run `make install`.") from error

    def _report(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
