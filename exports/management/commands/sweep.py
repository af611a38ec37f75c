"""Wake queued exports whose last wake-up is old."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports import sweeper
from exports.conf import limits
from exports.periodic import run_command


class Command(BaseCommand):
    """The sweeper by hand or without beat; a second one beside it is harmless."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --once: one run, its counts as JSON."""
        parser.add_argument("--once", action="store_true", help="one run, then end")

    def handle(self, *_: Any, once: bool, **__: Any) -> None:
        """Sweep once or until told to stop."""
        run_command(sweeper.run, limits().sweep_every_seconds, self.stdout, once=once)
