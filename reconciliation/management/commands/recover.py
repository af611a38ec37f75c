"""Take over attempts whose lease has expired."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports.conf import limits
from exports.periodic import run_command
from reconciliation import recovery


class Command(BaseCommand):
    """Recovery by hand or without beat; a second one beside it is harmless."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --once: one run, its counts as JSON."""
        parser.add_argument("--once", action="store_true", help="one run, then end")

    def handle(self, *_: Any, once: bool, **__: Any) -> None:
        """Recover once or until told to stop."""
        run_command(recovery.run, limits().recover_every_seconds, self.stdout, once=once)
