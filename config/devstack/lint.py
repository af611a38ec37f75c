"""`python -m config.devstack.lint`: every static check, with settings that point at no server.

All of them run even if one fails, and their output is shown only then.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from config.devstack import environment
from config.devstack.partner import PROJECT

PRODUCTION = "config.settings.base"
CHECKS: tuple[tuple[str, ...], ...] = (
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "ruff", "check", "."),
    ("-m", "mypy", "--explicit-package-bases", "."),
    ("-c", "from importlinter.cli import lint_imports_command as main; main()"),
    ("manage.py", "makemigrations", "--check", "--dry-run"),
    ("manage.py", "check", "--deploy", "--fail-level", "WARNING"),
)

_CHECK_SECONDS = 900  # mypy without a cache takes a minute; fifteen on a very busy machine


def main() -> None:
    """Run the checks; exit code 1 if one failed."""
    failed = [check for check in CHECKS if not _passes(check)]
    sys.exit(1 if failed else 0)


def _passes(check: tuple[str, ...]) -> bool:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, *check],
        cwd=PROJECT,
        env=os.environ | environment.placeholders(PRODUCTION),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_CHECK_SECONDS,
    )
    verdict = "ok" if done.returncode == 0 else f"FAILED\n{done.stdout}"
    print(f"{' '.join(check[1:])}: {verdict} ({time.monotonic() - begun:.1f} s)", flush=True)  # noqa: T201 - its output
    return done.returncode == 0


if __name__ == "__main__":
    main()
