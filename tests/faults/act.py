"""`python -m tests.faults.act SCENARIO JOB`: one scenario's step as a process of its own, under its role's login."""

from __future__ import annotations

import sys
import uuid

import django


def main() -> None:
    """Act once."""
    django.setup()
    from tests.faults.scenarios import BY_NAME  # noqa: PLC0415 - after Django is set up

    BY_NAME[sys.argv[1]].act(uuid.UUID(sys.argv[2]), "default")


if __name__ == "__main__":
    main()
