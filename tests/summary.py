"""Prints what the schedules and the crash points came to, also when several processes share the tests.

A process that runs tests for another hands its counts over; whoever prints adds them up. A plugin and not a
conftest: under `-n` the process that prints collects no tests, so it reads none of their conftests.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

TALLY = pytest.StashKey[list[dict[str, int]]]()
"""Where whoever counts puts what it has counted: `config.stash.setdefault(TALLY, [])`."""


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts to the process that prints, if this is not the one."""
    handed_over = getattr(session.config, "workeroutput", None)
    if handed_over is not None:
        handed_over["counts"] = session.config.stash.get(TALLY, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a process that has ended."""
    counts = getattr(node, "workeroutput", {}).get("counts", [])
    node.config.stash.setdefault(TALLY, []).extend(counts)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line a count."""
    tally: Counter[str] = sum(map(Counter, terminalreporter.config.stash.get(TALLY, [])), Counter())
    if not tally:
        return
    terminalreporter.section("counted")
    width = max(map(len, tally))
    for words, count in sorted(tally.items()):
        terminalreporter.write_line(f"{words:<{width}} {count:>7,}")
