"""Two connections that publish one name in the same moment: what no single connection can show.

A double win disproves; its absence proves nothing, since a race that is lost once in a hundred times hides well.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from exports.evidence import Accepted, Answer
from exports.probing.report import Findings, Races
from exports.probing.steps import Said, no, skipped, yes

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.destinations.scratch import Scratch
    from exports.probing.folder import Folder

PAIRS: Final = 8
"""Races of each form: a few seconds at a partner far away, and enough for a server that serializes nothing."""

_WAIT_SECONDS: Final = 120.0  # each request has a bound of its own below this; a thread that outlasts it is let go

Ask = tuple["Callable[[], Answer]", "Callable[[], Answer]"]


class Racing:
    """Races in one folder between its own connection and a rival's."""

    def __init__(self, folder: Folder, rival: Scratch) -> None:
        self._folder: Final = folder
        self._rival: Final = rival

    def run(self, findings: Findings) -> Races:
        """Race every form that refuses a taken name when nobody races."""
        renames = self._pairs(self._renames, worth=findings.rename_refuses_existing)
        links = self._pairs(self._links, worth=findings.link_refuses_existing)
        creates = self._pairs(self._creates, worth=findings.create_refuses_existing)
        return Races(*renames, *links, *creates)

    def _pairs(self, pair: Callable[[], Ask], *, worth: bool | None) -> tuple[int, int]:
        """Return how many pairs raced, and how often both were told yes."""
        if not worth:
            return 0, 0
        return PAIRS, sum(_both_won(pair()) for _ in range(PAIRS))

    def _renames(self) -> Ask:
        mine, theirs, final = self._folder.fresh(), self._folder.fresh(), self._folder.name()
        return lambda: self._folder.scratch.rename(mine, final), lambda: self._rival.rename(theirs, final)

    def _links(self) -> Ask:
        mine, theirs, final = self._folder.fresh(), self._folder.fresh(), self._folder.name()
        return lambda: self._folder.scratch.link(mine, final), lambda: self._rival.link(theirs, final)

    def _creates(self) -> Ask:
        final = self._folder.name()
        return (
            lambda: self._folder.scratch.create(final, b"mine")[0].answer,
            lambda: self._rival.create(final, b"theirs")[0].answer,
        )


def judged(races: Races) -> Said:
    """Put what was raced in words."""
    forms = (
        ("rename", races.rename_pairs, races.rename_double_wins),
        ("link", races.link_pairs, races.link_double_wins),
        ("exclusive creation", races.create_pairs, races.create_double_wins),
    )
    raced = [f"{form}: {wins} of {pairs} pairs both told yes" for form, pairs, wins in forms if pairs]
    if not raced:
        return skipped("no form refuses a taken name, so there is nothing to race")
    lost = any(wins for _, _, wins in forms)
    return no("; ".join(raced)) if lost else yes("; ".join(raced))


def _both_won(asks: Ask) -> bool:
    gate = threading.Barrier(2)
    answers: list[Answer | None] = [None, None]

    def ask(side: int) -> None:
        gate.wait(_WAIT_SECONDS)
        answers[side] = asks[side]()

    threads = [threading.Thread(target=ask, args=(side,), daemon=True) for side in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_WAIT_SECONDS)
    return all(isinstance(answer, Accepted) for answer in answers)
