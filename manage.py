#!/usr/bin/env python
"""Run a command; each command starts under the database role it is made for (INTERFACES: EXPORT_ROLE)."""

import os
import sys

ROLE_OF_COMMAND = {
    "migrate": "owner",
    "makemigrations": "owner",
    "sqlmigrate": "owner",
    "createcachetable": "owner",
    "sweep": "worker",
    "recover": "worker",
    "scavenge": "worker",
    "dispatch_outbox": "dispatcher",
    "collect_acknowledgments": "acknowledger",
    "audit_exports": "auditor",
}
# These start the servers that every other command needs, so they cannot need them themselves.
BOOTSTRAP_COMMANDS = {"devstack", "demo"}
# Long-running or fenced work: these check their settings and their login like any other process.
CHECKED_COMMANDS = {
    "sweep",
    "recover",
    "scavenge",
    "dispatch_outbox",
    "collect_acknowledgments",
    "audit_exports",
    "runserver",
    "import_contacts",
}


def main() -> None:
    """Choose role and settings by the command's name, then hand over to Django."""
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command in BOOTSTRAP_COMMANDS:
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.bootstrap"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
    os.environ.setdefault("EXPORT_ROLE", ROLE_OF_COMMAND.get(command, "api"))
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - after the environment is set

    if command in CHECKED_COMMANDS:
        check_process("web" if command == "runserver" else ROLE_OF_COMMAND.get(command, "api"))
    execute_from_command_line(sys.argv)


def check_process(process: str) -> None:
    """Refuse contradictory settings and a login that is not this process's role, in one sentence and exit 1."""
    import django  # noqa: PLC0415 - after the environment is set
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415

    from config import startup  # noqa: PLC0415

    try:
        django.setup()
        startup.check(process)
    except ImproperlyConfigured as error:
        sys.exit(f"Cannot start {process}: {error}")


if __name__ == "__main__":
    main()
