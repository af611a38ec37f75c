"""Look at partners for their acknowledgments of deliveries."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports.periodic import run_command
from reconciliation.acknowledgments import collecting


class Command(BaseCommand):
    """The collector by hand or without beat; a second one beside it is harmless."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --once: one run, its counts as JSON."""
        parser.add_argument("--once", action="store_true", help="one run, then end")

    def handle(self, *_: Any, once: bool, **__: Any) -> None:
        """Collect once or until told to stop."""
        run_command(collecting.run, collecting.EVERY_SECONDS, self.stdout, once=once)
