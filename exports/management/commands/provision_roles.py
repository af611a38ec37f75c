"""Create or repair the database's logins, their defaults, the database itself, and the grants in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from exports.errors import ExportError
from exports.provision import Logins, check, provision
from exports.states import Role

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


def _logins() -> Logins:
    """Read the addresses from the settings; a role without one is created without a password."""
    urls = {role: settings.ROLE_DATABASE_URLS.get(role.removeprefix("exports_"), "") for role in Role}
    return Logins(settings.ADMIN_DATABASE_URL, {role: url for role, url in urls.items() if url})


class Command(BaseCommand):
    """Connects as ADMIN_DATABASE_URL, never as this process's own role; may run before the tables exist."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --check: compare and change nothing."""
        parser.add_argument("--check", action="store_true", help="only say what differs; exit 1 if anything does")

    def handle(self, *_: Any, check: bool, **__: Any) -> None:
        """Print a line for each thing that was not as it should be."""
        try:
            lines = _compare() if check else provision(_logins())
        except (ExportError, psycopg.Error) as error:
            raise CommandError(str(error)) from error
        for line in lines:
            self.stdout.write(line)
        if check and lines:
            raise CommandError(f"{len(lines)} differences; run provision_roles.")


def _compare() -> list[str]:
    return check(_logins())
