"""The watcher at the partners over a whole run: no final name is ever written twice or seen half-written.

The embedded partner and the faulty servers note what came in through them; when the session ends, every note about a
final name is judged, in whichever process the tests ran, and a violation fails the session. Tests that break the rule
on purpose note for themselves. Servers that are not ours are watched by inotify where they are tested.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from config.devstack.partner_files import Did, Event
from tests.plugin import STACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEEN: list[Event] = []
"""What was done at this process's own servers."""

FINAL: Final = re.compile(r"contacts-[A-Za-z0-9-]+\.csv", re.ASCII)
APPEARS: Final = {Did.CREATED, Did.LINKED, Did.RENAMED}

_VIOLATIONS: Final = "names at partners"
_FOUND = pytest.StashKey[list[str]]()
_WATCHED = pytest.StashKey[int]()


def violations(events: Iterable[Event]) -> list[str]:
    """Return a sentence for each rule that these events, in their order, break."""
    by_path: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if FINAL.fullmatch(Path(event.path).name):
            by_path[event.path].append(event)
    return [f"{path} {words}" for path, its in by_path.items() for words in _broken(its)]


def _broken(events: list[Event]) -> Iterator[str]:
    """Yield what is wrong with one final name's events; a replacement says itself that it was agreed upon."""
    if sum(event.did in APPEARS for event in events) > 1:
        yield f"was written more than once: {', '.join(event.did for event in events)}"
    for event in events:
        if event.did is Did.OPENED:
            yield "was opened for writing without asking that it be new"
        if event.did is Did.REMOVED:
            yield "was removed"
        if event.did is Did.RENAMED and event.stood:
            yield "was replaced without saying so"
        if event.half_written:
            yield "was seen half-written"


def noted_in(journal: Path) -> list[Event]:
    """Return what an embedded partner noted; nothing where it never ran."""
    if not journal.exists():
        return []
    lines = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    return [Event(Did(line.pop("did")), **line) for line in lines]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Judge what this process saw; hand it to the process that prints, or fail the session."""
    config = session.config
    stack = config.stash.get(STACK, None)
    events = [*SEEN, *(noted_in(stack.partner.journal) if stack is not None else [])]
    found = [*config.stash.get(_FOUND, []), *violations(events)]
    watched = config.stash.get(_WATCHED, 0) + len({e.path for e in events if FINAL.fullmatch(Path(e.path).name)})
    config.stash[_FOUND], config.stash[_WATCHED] = found, watched
    handed_over = getattr(config, "workeroutput", None)
    if handed_over is not None:
        handed_over[_VIOLATIONS] = {"found": found, "watched": watched}
    elif found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a process that has ended saw."""
    told = getattr(node, "workeroutput", {}).get(_VIOLATIONS, {"found": [], "watched": 0})
    stash = node.config.stash
    stash[_FOUND] = [*stash.get(_FOUND, []), *told["found"]]
    stash[_WATCHED] = stash.get(_WATCHED, 0) + told["watched"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many names were watched, and what was broken."""
    stash = terminalreporter.config.stash
    if stash.get(_WATCHED, 0) or stash.get(_FOUND, []):
        terminalreporter.section("final names watched at partners")
        terminalreporter.write_line(f"{stash.get(_WATCHED, 0):,} names, {len(stash.get(_FOUND, []))} violations")
        for words in stash.get(_FOUND, []):
            terminalreporter.write_line(words, red=True)
