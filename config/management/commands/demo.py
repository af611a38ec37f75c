"""`manage.py demo [DIR] [--once]`: everything on this machine, with exports that show what happens."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from config.devstack.errors import DevstackError
from config.devstack.waiting import StopSignals

if TYPE_CHECKING:
    from argparse import ArgumentParser

_INTERRUPTED = 130  # what a shell reports of a program that Ctrl-C ended


class Command(BaseCommand):
    """Starts the servers and every process, seeds two tenants, runs sample exports, serves until Ctrl-C."""

    help = "Show everything at work in DIR. Ends on SIGINT or SIGTERM, or after the table with --once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the directory and whether to end after the table."""
        parser.add_argument("directory", type=Path, metavar="DIR", nargs="?", default=Path("demo-data"))
        parser.add_argument("--once", action="store_true", help="end after the table; 0 if all came out as intended")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run it; exit code 1 and one sentence when it cannot be shown, or not as intended."""
        # Signals first: a Ctrl-C during the imports below is then a request too. These two need no package.
        signals = StopSignals()
        signals.install()
        try:
            from config.devstack.demo.show import run  # noqa: PLC0415 - the servers are optional packages

            as_intended = run(options["directory"], self._report, signals, once=options["once"])
        except DevstackError as error:
            raise CommandError(str(error)) from error
        except ImportError as error:
            raise CommandError(f"{error.name} is not installed; run `make demo`.") from error
        if as_intended is None:
            sys.exit(_INTERRUPTED)
        if not as_intended:
            raise CommandError("Not every sample export came out as intended.")

    def _report(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
