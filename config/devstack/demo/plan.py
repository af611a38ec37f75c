"""Who and what is in the demo: tenants, their partners, people and client systems.

The plan goes to `manage.py seed_demo` as a private file; the same plan on the same directory changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from config.devstack.passwords import short_password, write_private

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack

CONTACTS_PER_TENANT = 3_000
TENANTS = {"nordwind": "Nordwind Versicherungen", "sonnenhof": "Sonnenhof Reisen"}

MAILING_HOUSE = "Postkontor mailing house"
AD_PLATFORM = "Adline audiences"
FORMER_PARTNER = "Brieftaube (disabled)"
NEW_PARTNER = "Neuwerk (contract not agreed yet)"

ACCOUNT_OF = {MAILING_HOUSE: "postkontor", AD_PLATFORM: "adline", FORMER_PARTNER: "brieftaube", NEW_PARTNER: "neuwerk"}
"""Each destination and its account at the partner's server, which is also the name of its directory."""

PEOPLE = {
    "vera": "Export viewers",
    "omar": "Export operators",
    "ruth": "Export replacement approvers",
    "rosa": "Reconciliation staff",
    "anna": "Export administrators",
}
"""One person for each group; each is a member of both tenants, and `root` sees everything."""

SUPERUSER = "root"
CLIENT_OF = {"nordwind": "crm-nordwind", "sonnenhof": "crm-sonnenhof"}
"""The client system that asks for a tenant's exports over REST."""


def make_plan(stack: Stack) -> dict[str, Any]:
    """Return everything seed_demo needs, with the addresses and secrets of this stack."""
    return {
        "contacts_per_tenant": CONTACTS_PER_TENANT,
        "tenants": TENANTS,
        "people": [_person(stack, name, group) for name, group in PEOPLE.items()] + [_person(stack, SUPERUSER, None)],
        "clients": [{"name": client, "tenant": tenant} for tenant, client in CLIENT_OF.items()],
        "destinations": [
            _destination(stack, "nordwind", MAILING_HOUSE, method="password"),
            _destination(stack, "sonnenhof", AD_PLATFORM, method="key", columns=["external_id", "email", "country"]),
            _destination(stack, "nordwind", FORMER_PARTNER, method="password", is_enabled=False),
            _destination(stack, "sonnenhof", NEW_PARTNER, method="password", is_agreed=False),
        ],
    }


def hand_over(directory: Path, plan: dict[str, Any]) -> tuple[Path, Path]:
    """Write the plan for seed_demo; return its file and the one the answer is expected in."""
    write_private(directory / "demo-plan.json", json.dumps(plan, indent=1))
    return directory / "demo-plan.json", directory / "demo-seeded.json"


def password_of(stack: Stack, username: str) -> str:
    """Return a person's password, the same for the life of the directory."""
    return stack.home.passwords.of(f"person:{username}", short_password)


def _person(stack: Stack, username: str, group: str | None) -> dict[str, Any]:
    return {"username": username, "password": password_of(stack, username), "group": group}


def _destination(stack: Stack, tenant: str, name: str, **more: Any) -> dict[str, Any]:
    account = stack.partner.add_account(ACCOUNT_OF[name])
    # Agreed with this partner: where connection tests may try what they like.
    (account.directory / "scratch").mkdir(mode=0o700, exist_ok=True)
    return (
        {"tenant": tenant, "name": name, "is_enabled": True, "is_agreed": True, "columns": []}
        | _endpoint(account)
        | more
    )


def _endpoint(account: PartnerAccount) -> dict[str, Any]:
    return {
        "host": account.host,
        "port": account.port,
        "host_key": account.host_key,
        "user": account.username,
        "password": account.password,
        "private_key": account.private_key,
    }
