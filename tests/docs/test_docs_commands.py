"""The commands of the guides, run one after the other as they stand there, on a database that did not exist."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.database.scratch import manage, scratch_database
from tests.docs.pages import PROJECT, blocks

if TYPE_CHECKING:
    from pathlib import Path

ONCE = ("sweep", "recover", "scavenge", "dispatch_outbox", "collect_acknowledgments")
ASKS_A_PERSON = {"createsuperuser": ("--no-input", "--username", "root", "--email", "root@example.org")}
"""What a command that asks is told, since nobody answers here."""
CHANGES_THE_TREE = {"collectstatic": ("--dry-run",)}


def lines(page: str) -> list[list[str]]:
    """Return the words of each command in the page's first block for a shell."""
    first, *_ = blocks(PROJECT / "docs" / page, "sh")
    found = [shlex.split(line, comments=True) for line in first.splitlines()]
    assert {words[0] for words in found} == {"manage.py"}
    return [words[1:] for words in found]


@pytest.mark.processes
def test_the_first_start_an_upgrade_and_one_run_of_each_process_work_as_the_guides_give_them(
    admin_url: str, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir(mode=0o700)
    with scratch_database(admin_url) as scratch:
        told = {"EXPORT_SPOOL_DIR": str(spool), "DJANGO_SUPERUSER_PASSWORD": "a long password for tests"}
        for name, *options in [*lines("running.md"), *lines("upgrading.md")]:
            more = (*ASKS_A_PERSON.get(name, ()), *CHANGES_THE_TREE.get(name, ()))
            said = manage(scratch, name, *options, *more, **told)
            assert name != "audit_exports" or said == "violations: 0\n"
        for name in ONCE:
            assert manage(scratch, name, "--once", **told).lstrip().startswith("{")
