"""Every line that the project logs is named for its fact, and what it is about stands in fields."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[2]
FILES = sorted(path for app in ("config", "exports", "reconciliation") for path in (PROJECT / app).rglob("*.py"))
LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
NAME = re.compile(r"[a-z]+(_[a-z0-9]+)*")


def calls(source: str) -> Iterator[ast.Call]:
    """Yield the calls of every logger of a file."""
    tree = ast.parse(source)
    loggers = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "getLogger" in ast.dump(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=level)) if name in loggers:
                if level in LEVELS:
                    yield node


def faults(source: str) -> list[int]:
    """Return the lines of calls that are a sentence, or have values among their words."""
    return [call.lineno for call in calls(source) if not _is_named(call)]


def _is_named(call: ast.Call) -> bool:
    match call.args:
        case [ast.Constant(value=str(words))]:
            return NAME.fullmatch(words) is not None
        case _:
            return False


def test_every_logged_line_of_the_project_has_one_name_in_snake_case_and_fields() -> None:
    found = {str(path.relative_to(PROJECT)): faults(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert sum(len(list(calls(path.read_text(encoding="utf-8")))) for path in FILES) > 40


@pytest.mark.parametrize(
    "line",
    ['log.info("No grants for %s", who)', 'log.info(f"swept {n}")', 'log.info("Swept")', "log.warning(words)"],
)
def test_a_sentence_or_a_value_among_the_words_is_found(line: str) -> None:
    assert faults(f'import logging\nlog = logging.getLogger("x")\n{line}\n') == [3]
    assert faults('import logging\nlog = logging.getLogger("x")\nlog.info("swept", extra={"n": 1})\n') == []
