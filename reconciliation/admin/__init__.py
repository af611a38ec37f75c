"""Screens on which reconciliation staff settle and correct: there only where the process has their login (I10).

They read and write over the alias `reconciliation` alone; who is signed in and may do what is the console's own.
"""

from __future__ import annotations

from typing import Final

ALIAS: Final = "reconciliation"
"""The database login of these screens, exports_reconciler; without it they do not exist."""


def register() -> None:
    """Add the screens to an export's page; called when the app is ready, before URLs are first read."""
    from exports.admin.verbs import register_verb  # noqa: PLC0415 - only a process with the console needs them
    from reconciliation.admin.add import EVIDENCE  # noqa: PLC0415 - the same
    from reconciliation.admin.correct import CORRECT  # noqa: PLC0415 - the same
    from reconciliation.admin.reconcile import RECONCILE  # noqa: PLC0415 - the same

    for verb in (RECONCILE, CORRECT, EVIDENCE):
        register_verb(verb)
