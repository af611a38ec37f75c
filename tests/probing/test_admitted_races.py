"""Every mode that a probe admits on a server, raced there: of two deliveries to one name never two succeed."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any

import pytest

from exports.contracts import PublishMode
from exports.destinations.protocol import never, no_progress
from exports.evidence import Accepted
from exports.probing.judging import objections_to
from tests.destinations.conformance import upload
from tests.destinations.partners import Export, make_export
from tests.destinations.test_conformance import RUNNERS
from tests.probing.servers import probe, with_scratch

if TYPE_CHECKING:
    from pathlib import Path

    from exports.contracts import Contract
    from exports.destinations.protocol import Session
    from tests.destinations.loops import LoopThread
    from tests.destinations.partners import Partner

LINK, RENAME, DIRECT = PublishMode.HARDLINK_REMOVE, PublishMode.RENAME_NOREPLACE, PublishMode.DIRECT_WRITE
ADMITTED = {
    "directory": {LINK, DIRECT},
    "asyncssh": {LINK, DIRECT},
    "openssh": {LINK, RENAME, DIRECT},
    "proftpd": {LINK, DIRECT},
}
"""What is expected of each; the test fails when a probe admits another set."""

PAIRS = [20, pytest.param(300, marks=pytest.mark.soak)]


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("kind", RUNNERS)
def test_on_each_server_every_admitted_mode_lets_one_of_a_pair_succeed(
    loop: LoopThread, open_path: Path, tmp_path: Path, kind: str, pairs: int
) -> None:
    with RUNNERS[kind](loop, open_path / f"races-{kind}-{pairs}") as running:
        partner = with_scratch(running)
        report = probe(partner)
        admitted = {mode for mode in PublishMode if not objections_to(mode, report)}
        assert admitted == ADMITTED[kind]
        for mode in sorted(admitted):
            _race(partner, mode, tmp_path, pairs)


def _race(partner: Partner, mode: PublishMode, tmp_path: Path, pairs: int) -> None:
    claims: dict[str, Any] = {"rename_refuses_existing": True, "exclusive_create_refuses": True}
    contract = partner.contract(publish={"mode": mode.value, "probed": claims})
    sessions = [partner.open(contract), partner.open(contract)]
    for at in range(pairs):
        final = f"contacts-{mode.value}-{at}.csv"
        exports = [make_export(tmp_path, bytes([side]) * 500, final) for side in (1, 2)]
        answers = _together(sessions, contract, exports)
        accepted = [side for side, answer in enumerate(answers) if answer == Accepted()]
        assert len(accepted) == 1, (mode, at, answers)
        assert (partner.root / final).read_bytes() == exports[accepted[0]].content
    for session in sessions:
        session.close()


def _together(sessions: list[Session], contract: Contract, exports: list[Export]) -> list[object]:
    """Publish from two threads that wait for each other first."""
    is_direct = contract.publish.mode is DIRECT
    names = ["", ""] if is_direct else [upload(*each) for each in zip(sessions, itertools.repeat(contract), exports)]
    gate = threading.Barrier(2)
    answers: list[object] = [None, None]

    def publish(side: int) -> None:
        session, export = sessions[side], exports[side]
        final, size = export.expected.name, export.expected.size
        gate.wait(10)
        if is_direct:
            answers[side] = session.write_final(export.path, size, final, progress=no_progress, abandon=never)
        else:
            answers[side] = session.publish(names[side], final, overwrite=False)

    threads = [threading.Thread(target=publish, args=(side,)) for side in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return answers
