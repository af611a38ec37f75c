"""Register a client system of the REST API and print its token, once."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import TYPE_CHECKING, Any, assert_never

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from exports.actions.create_client import ClientVerb, NameTaken, Registered, create_client
from exports.models import Tenant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.core.management.base import CommandParser

LONGEST_NAME = 60
DEFAULT_DAYS = 365
LONGEST_DAYS = 3_650
"""A token that outlives ten years has outlived everybody who knew of it."""


class Command(BaseCommand):
    """`create_client crm --tenant north --verbs create view cancel`: the token goes to standard output, alone."""

    help = "Register a client system of the REST API and print its token, once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name, the tenants, and what the client may do."""
        parser.add_argument("name", type=_name, help="stands in created_by for good and is never given again")
        parser.add_argument("--tenant", required=True, nargs="+", metavar="SLUG", help="whose exports it may touch")
        parser.add_argument(
            "--verbs",
            nargs="+",
            type=ClientVerb,
            choices=list(ClientVerb),
            default=[ClientVerb.CREATE, ClientVerb.VIEW],
            help="what it may do (default: create view)",
        )
        parser.add_argument("--days", type=_days, default=DEFAULT_DAYS, help="how long the token is good for")

    def handle(self, *_: Any, name: str, tenant: list[str], verbs: list[ClientVerb], days: int, **__: Any) -> None:
        """Register the client; fail with one sentence when the name is taken or a tenant unknown."""
        answer = create_client(name, _tenants(tenant), set(verbs), timedelta(days=days))
        match answer:
            case Registered(_, token):
                self.stderr.write(f"client {name}: this token is shown once and good for {days} days")
                self.stdout.write(token)
            case NameTaken():
                raise CommandError(f"a client or user had the name {name} before; names are never reused")
            case _:
                assert_never(answer)


def _tenants(slugs: Sequence[str]) -> list[Tenant]:
    found = list(Tenant.objects.filter(slug__in=slugs))
    unknown = sorted(set(slugs) - {tenant.slug for tenant in found})
    if unknown:
        raise CommandError(f"no such tenant: {', '.join(unknown)}")
    return found


def _name(text: str) -> str:
    try:
        validate_slug(text)
    except ValidationError as error:
        raise ArgumentTypeError("letters, digits, hyphens and underscores only") from error
    if len(text) > LONGEST_NAME:
        raise ArgumentTypeError(f"at most {LONGEST_NAME} characters")
    return text


def _days(text: str) -> int:
    days = int(text)
    if not 1 <= days <= LONGEST_DAYS:
        raise ArgumentTypeError(f"between 1 and {LONGEST_DAYS}")
    return days
