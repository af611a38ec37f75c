"""The documents as tests read them: their text, their blocks of code, and what they name in backticks."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGES = sorted([PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in _BLOCK.findall(page.read_text()) if name == language]


def block_with(name: str, words: str) -> str:
    """Return the one block of Python on a page that has these words in it."""
    (found,) = [body for body in blocks(PROJECT / "docs" / name, "python") if words in body]
    return found


def named(page: Path) -> list[str]:
    """Return what stands in backticks in running text."""
    return re.findall(r"`([^`\n]+)`", _BLOCK.sub("", page.read_text()))


def commands(page: Path) -> set[str]:
    """Return every `manage.py …` the page names, in text or in a block, up to the end of the line."""
    return {found.strip() for found in re.findall(r"manage\.py ([^`\n#]+)", page.read_text())}
