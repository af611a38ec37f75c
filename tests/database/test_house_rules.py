"""Nobody writes to the five tables but the registered statements: the whole tree is read, not trusted."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from exports.sql import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parent.parent.parent
PACKAGES = ("config", "exports", "reconciliation")

FIVE = ("export_jobs", "deliveries", "export_attempt_events", "cancellation_requests", "outbox")
COMPANIONS = ("creation_requests", "terms_changes", "export_rejections", "authorized_files", "acknowledgments_seen")
WRITES_SQL = re.compile(
    rf"\b(?:INSERT\s+INTO|UPDATE(?:\s+ONLY)?|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?|COPY|MERGE\s+INTO)\s+"
    rf"(?:public\.)?\"?(?:{'|'.join(FIVE + COMPANIONS)})\b(?!\.)",
    re.IGNORECASE,
)
MODELS = {
    "ExportJob",
    "Delivery",
    "ExportAttemptEvent",
    "CancellationRequest",
    "OutboxMessage",
    "CreationRequest",
    "TermsChange",
    "ExportRejection",
    "AuthorizedFile",
    "AcknowledgmentSeen",
}
WRITING_METHODS = {
    "save",
    "create",
    "acreate",
    "update",
    "aupdate",
    "delete",
    "adelete",
    "bulk_create",
    "bulk_update",
    "get_or_create",
    "update_or_create",
}


def python_files() -> list[Path]:
    return sorted(file for package in PACKAGES for file in (PROJECT / package).rglob("*.py"))


def sql_files() -> list[Path]:
    return sorted(file for package in PACKAGES for file in (PROJECT / package).rglob("*.sql"))


def _without_comments(file: Path) -> str:
    return re.sub(r"--.*", "", file.read_text(encoding="utf-8"))


def _names_a_model(node: ast.expr) -> bool:
    """Whether an expression starts at one of the models, as ExportJob.objects.using("api").filter(…) does."""
    return any(isinstance(part, ast.Name) and part.id in MODELS for part in ast.walk(node))


def orm_writes(tree: ast.AST) -> Iterator[int]:
    """Yield the line of every call that would write one of the tables through Django."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in WRITING_METHODS
            and _names_a_model(node.func.value)
        ):
            yield node.lineno


def sql_in_strings(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and WRITES_SQL.search(node.value):
            yield node.lineno


def test_no_python_writes_the_five_tables_past_the_statements() -> None:
    found = []
    for file in python_files():
        if "migrations" not in file.parts:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            found += [f"{file.relative_to(PROJECT)}:{line}" for line in (*orm_writes(tree), *sql_in_strings(tree))]
    assert found == []


def test_only_registered_statements_write_the_five_tables() -> None:
    writing = {file.stem for file in sql_files() if WRITES_SQL.search(_without_comments(file))}
    assert writing <= STATEMENTS.keys()


def test_migrations_own_their_sql_and_write_no_rows_of_the_five_tables() -> None:
    for file in PROJECT.glob("*/migrations/*.py"):
        text = file.read_text(encoding="utf-8")
        assert "exports.sql" not in text, file
        assert "STATEMENTS" not in text, file
        assert not WRITES_SQL.search(text), file


@pytest.mark.parametrize(
    "source",
    [
        "ExportJob.objects.filter(id=1).update(status='Queued')",
        "ExportJob.objects.using('api').create(id=1)",
        "ExportJob(id=1).save()",
        "OutboxMessage.objects.bulk_create([])",
        "cursor.execute('UPDATE export_jobs SET status = 1')",
        "cursor.execute('delete  from public.outbox')",
        "cursor.execute('INSERT INTO terms_changes VALUES (1)')",
    ],
)
def test_the_rule_would_see_a_write(source: str) -> None:
    tree = ast.parse(source)
    assert [*orm_writes(tree), *sql_in_strings(tree)] == [1]


@pytest.mark.parametrize("source", ["seen.update(job_id=1)", "form.save()", "'SELECT 1 FROM export_jobs FOR UPDATE'"])
def test_the_rule_leaves_other_things_alone(source: str) -> None:
    tree = ast.parse(source)
    assert [*orm_writes(tree), *sql_in_strings(tree)] == []


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_that_writes_a_terms_column_raises_the_version(name: str) -> None:
    assignments = re.findall(r"\bSET\b(.*?)(?:\bFROM\b|\bWHERE\b)", STATEMENTS[name].text, re.DOTALL)
    for assigned in assignments:
        if re.search(r"\bdestination_id\s*=", assigned):
            assert re.search(r"\bversion\s*=\s*j?\.?version \+ 1", assigned), name


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_that_leaves_an_export_queued_writes_a_wake_up(name: str) -> None:
    if re.search(r"\bwoken_at\s*=", STATEMENTS[name].text) or "created AS" in STATEMENTS[name].text:
        assert re.search(r"INSERT INTO outbox", STATEMENTS[name].text), name
