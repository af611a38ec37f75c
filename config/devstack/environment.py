"""The variables with which every process of the project reaches the servers of one directory."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet

from config.devstack.passwords import new_password, write_private

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack

DATABASE = "exports"
ROLE_OF_VARIABLE = {
    "API_DATABASE_URL": "exports_api",
    "WORKER_DATABASE_URL": "exports_worker",
    "DISPATCHER_DATABASE_URL": "exports_dispatcher",
    "ACKNOWLEDGER_DATABASE_URL": "exports_acknowledger",
    "AUDITOR_DATABASE_URL": "exports_auditor",
    "MIGRATION_DATABASE_URL": "exports_owner",
    "RECONCILIATION_DATABASE_URL": "exports_reconciler",
}
"""Each login a process can have, and the database role behind it."""


def variables(stack: Stack, settings: str) -> dict[str, str]:
    """Return what a process needs, under the settings module `settings`; the spool is made if missing."""
    secrets = stack.home.passwords
    spool = stack.home.directory / "spool"
    spool.mkdir(mode=0o700, exist_ok=True)
    logins = {name: stack.postgres.url(role, DATABASE) for name, role in ROLE_OF_VARIABLE.items()}
    return logins | {
        "ADMIN_DATABASE_URL": stack.postgres.url(database=DATABASE),
        "BROKER_URL": stack.broker.url(),
        "SECRET_KEY": secrets.of("django"),
        "CREDENTIAL_KEYS": secrets.of("credentials", lambda: Fernet.generate_key().decode()),
        "ALLOWED_HOSTS": "localhost,127.0.0.1",
        "DEBUG": "false",
        "EXPORT_SPOOL_DIR": str(spool),
        "DJANGO_SETTINGS_MODULE": settings,
    }


def placeholders(settings: str) -> dict[str, str]:
    """Return the same variables with addresses nobody answers at, for commands that need no server."""
    nowhere = {name: f"postgresql://{role}@127.0.0.1:1/nowhere" for name, role in ROLE_OF_VARIABLE.items()}
    return nowhere | {
        "ADMIN_DATABASE_URL": "postgresql://postgres@127.0.0.1:1/nowhere",
        "BROKER_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": new_password() + new_password(),
        "CREDENTIAL_KEYS": Fernet.generate_key().decode(),
        "ALLOWED_HOSTS": "exports.example",
        "DEBUG": "false",
        "EXPORT_SPOOL_DIR": "/nowhere",
        "DJANGO_SETTINGS_MODULE": settings,
    }


def partner_variables(account: PartnerAccount) -> dict[str, str]:
    """Return how to deliver to a partner of the stack, for whoever sets up a destination."""
    return {
        "DEVSTACK_PARTNER_HOST": account.host,
        "DEVSTACK_PARTNER_PORT": str(account.port),
        "DEVSTACK_PARTNER_HOST_KEY": account.host_key,
        "DEVSTACK_PARTNER_USERNAME": account.username,
        "DEVSTACK_PARTNER_PASSWORD": account.password,
        "DEVSTACK_PARTNER_DIRECTORY": str(account.directory),
    }


def write(file: Path, values: Mapping[str, str]) -> None:
    """Write `values` for a POSIX shell to source, readable by this account alone."""
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in sorted(values.items())]
    write_private(file, "".join(lines))
