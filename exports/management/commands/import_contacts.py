"""Load contacts from a CSV file into a tenant: all of it or nothing, known ones updated by their external id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from exports.imports.contacts import Imported, import_contacts
from exports.imports.lines import ENCODINGS
from exports.imports.problems import ImportRefused
from exports.imports.records import DELIMITERS, Format

_BY_WORD = {"tab": "\t"}


class Command(BaseCommand):
    """The way in for a user's own CSV."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, its tenant, and what cannot be guessed about the file."""
        parser.add_argument("file", type=Path, help="a CSV whose first line names its columns")
        parser.add_argument("--tenant", required=True, metavar="SLUG", help="whose contacts these are")
        parser.add_argument(
            "--map", action="append", default=[], metavar="NAME=COLUMN", help="a column's name in the file, and ours"
        )
        parser.add_argument("--encoding", choices=ENCODINGS, default=ENCODINGS[0])
        shown = [delimiter for delimiter in DELIMITERS if delimiter != "\t"]
        parser.add_argument("--delimiter", choices=[*shown, *_BY_WORD], help="default: what parts the first line")

    def handle(self, *_: Any, file: Path, tenant: str, **options: Any) -> None:
        """Load the file and say what became of it; a refusal is one sentence and exit status 1."""
        given = options["delimiter"]
        form = Format(options["encoding"], _BY_WORD.get(given, given), _pairs(options["map"]))
        try:
            imported = import_contacts(file, tenant, form)
        except ImportRefused as refused:
            raise CommandError(str(refused)) from refused
        self._tell(imported, tenant)

    def _tell(self, imported: Imported, tenant: str) -> None:
        loaded = imported.loaded
        total = loaded.new + loaded.updated
        self.stdout.write(f"Loaded {total} contacts for {tenant}: {loaded.new} new, {loaded.updated} updated.")
        if imported.left_out:
            positions = ", ".join(map(str, imported.left_out))
            self.stdout.write(f"Not loaded, because a contact has no such column: column {positions} of the file.")


def _pairs(told: list[str]) -> dict[str, str]:
    pairs = {}
    for each in told:
        name, separator, column = each.rpartition("=")
        if not separator:
            raise CommandError(f"--map {each}: write the name in the file, '=', and the contact's column.")
        pairs[name] = column.strip()
    return pairs
