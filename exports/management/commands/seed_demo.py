"""Fill a database with what a plan names: `seed_demo PLAN ANSWER`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand
from django.db import transaction

from exports.demo.contacts import seed_contacts
from exports.demo.destinations import seed_destination
from exports.demo.people import seed_client, seed_person
from exports.models import Tenant

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Creates what is missing of the plan's tenants, contacts, people, clients and destinations.

    Writes ids and tokens to ANSWER, closed to other accounts. The same plan again changes only the tokens.
    """

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the two files."""
        parser.add_argument("plan", type=Path, help="a JSON file, as the demo writes it")
        parser.add_argument("answer", type=Path, help="where ids and tokens go")

    def handle(self, *_: Any, plan: Path, answer: Path, **__: Any) -> None:
        """Seed all of it; what an interruption left out is made by the next run."""
        seeded = seed(json.loads(plan.read_text()))
        answer.unlink(missing_ok=True)
        with os.fdopen(os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            json.dump(seeded, stream, indent=1)


def seed(plan: dict[str, Any]) -> dict[str, Any]:
    """Create what is missing; return the destinations' ids by name and the clients' tokens."""
    with transaction.atomic():
        tenants = {slug: _tenant(slug, name) for slug, name in plan["tenants"].items()}
        for tenant in tenants.values():
            seed_contacts(tenant, plan["contacts_per_tenant"])
        for person in plan["people"]:
            seed_person(person, tenants.values())
    # A contract is proposed and comes into force by the actions that people use, each a transaction of its own.
    destinations = {told["name"]: seed_destination(told, tenants[told["tenant"]]) for told in plan["destinations"]}
    tokens = {told["name"]: seed_client(told["name"], tenants[told["tenant"]]) for told in plan["clients"]}
    return {"destinations": destinations, "tokens": tokens}


def _tenant(slug: str, name: str) -> Tenant:
    tenant, _ = Tenant.objects.get_or_create(slug=slug, defaults={"name": name})
    return tenant
