"""What the documents claim in a form that can be checked is so."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
from django.core.management import get_commands, load_command_class

from config.celery import app
from config.env import URL_VARIABLE
from exports.states import CancellationOutcome, FailureReason, HoldCause, Status
from tests.docs.generated import DOCS, PARTS, filled
from tests.docs.pages import PAGES, PROJECT, commands, named

if TYPE_CHECKING:
    from pathlib import Path

pages = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
READ = set(URL_VARIABLE.values()) | set(re.findall(r'env\.\w+\("([A-Z_]+)"', (PROJECT / "config/env.py").read_text()))
SUFFIXES = (".py", ".md", ".sql", ".yml", ".txt", ".service", "Dockerfile", "/")


@pages
def test_each_part_made_from_the_code_is_what_the_code_says_now(page: Path) -> None:
    assert page.read_text() == filled(page.read_text()), "run: python -m tests.docs.generated"


def test_every_part_stands_in_one_document() -> None:
    text = "".join(page.read_text() for page in DOCS.glob("*.md"))

    assert {name: text.count(f"<!-- begin {name} -->") for name in PARTS} == dict.fromkeys(PARTS, 1)


@pages
def test_every_link_between_documents_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []


@pages
def test_every_path_named_is_there(page: Path) -> None:
    paths = [
        name for name in named(page) if re.fullmatch(r"[\w./-]+", name) and "/" in name and name.endswith(SUFFIXES)
    ]
    ours = [name for name in paths if not name.startswith(("/", "DIR/"))]

    assert [name for name in ours if not (PROJECT / name).exists()] == []


@pages
def test_every_command_named_exists_with_its_options(page: Path) -> None:
    for line in commands(page):
        name, *rest = shlex.split(line.rstrip(".,;:)"))
        options = [word for word in rest if word.startswith("--")]
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        known = {option for action in parser._actions for option in action.option_strings}

        assert set(options) <= known, line


def test_every_variable_that_is_read_is_documented_and_no_other() -> None:
    text = (DOCS / "running.md").read_text()
    told = set(re.findall(r"\b((?:EXPORT|LOG)_[A-Z_]+|[A-Z]+_DATABASE_URL|BROKER_URL|CREDENTIAL_KEYS)\b", text))

    assert READ - set(re.findall(r"[A-Z][A-Z_]+", text)) == set()
    assert told - READ == set()


def test_every_status_failure_hold_and_answer_is_explained() -> None:
    concepts, operating = (DOCS / "concepts.md").read_text(), (DOCS / "operating.md").read_text()

    assert [status for status in Status if f"| {status} |" not in concepts] == []
    assert [word for word in (*FailureReason, *HoldCause) if f"`{word}`" not in concepts] == []
    assert [word for word in CancellationOutcome if f"`{word}`" not in operating] == []


def test_every_queue_a_worker_takes_from_is_given_to_one_in_the_guide() -> None:
    text = (DOCS / "running.md").read_text()
    queues = {entry["options"]["queue"] for entry in app.conf.beat_schedule.values()} | {"exports"}

    assert [queue for queue in sorted(queues) if not re.search(rf"-Q [\w,]*{queue}", text)] == []
