"""`manage.py reset_second_factor USERNAME --by NAME --reason TEXT`: for somebody whose app is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from exports.actions.reset_second_factor import reset_second_factor

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Takes a person's second factor away, on record; they set up a new one when they sign in next."""

    help = "Take a lost second factor away. Make sure first that it is its owner who asks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take whose it is, who takes it away, and why."""
        parser.add_argument("username")
        parser.add_argument("--by", required=True, metavar="USERNAME", help="who takes it away; kept on record")
        parser.add_argument("--reason", required=True, help="why, and how it was made sure who asked; kept on record")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say in one sentence why not."""
        person, by = _person(options["username"]), _person(options["by"])
        if person == by:
            raise CommandError("Nobody takes their own away: a second person says on record that it is lost.")
        if not reset_second_factor(person, by, options["reason"]):
            raise CommandError(f"{person.username} has no second factor.")
        self.stdout.write(f"{person.username} sets up a new second factor at the next sign-in.")


def _person(username: str) -> User:
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist as error:
        raise CommandError(f"There is nobody called {username}.") from error
