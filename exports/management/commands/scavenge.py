"""Remove files whose attempt is no longer live: on the host this runs on, and at partners who agreed to it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from exports import scavenger
from exports.conf import limits
from exports.errors import ExportError
from exports.periodic import run_command


class Command(BaseCommand):
    """The scavenger by hand or without beat; a second one beside it is harmless."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --once: one run, its counts as JSON."""
        parser.add_argument("--once", action="store_true", help="one run, then end")

    def handle(self, *_: Any, once: bool, **__: Any) -> None:
        """Scavenge once or until told to stop; a spool directory that cannot be used ends it."""
        try:
            run_command(scavenger.run, limits().scavenge_every_seconds, self.stdout, once=once)
        except ExportError as error:
            raise CommandError(str(error)) from error
