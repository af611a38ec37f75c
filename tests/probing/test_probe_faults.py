"""Probes of servers that refuse, changed, hang or vanish: each ends in time, says what is wrong, and cleans up."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.probing import Outcome, Report, StepName, propose
from exports.secrets import Secret
from tests.destinations.faulty import Fault, Step
from tests.destinations.hostile import Trick, hostile_server
from tests.destinations.keyring import new_key, public_line
from tests.probing.servers import Careless, probe, scratch_of, served, with_scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.destinations.loops import LoopThread
    from tests.destinations.partners import Partner

IDLE_SECONDS = 2
"""The bound of one wait under test."""

BOUND_SECONDS = 45.0
"""Two waits of one bound each, two connections and the rest, on a machine that others keep busy."""


@pytest.fixture
def partner(loop: LoopThread, tmp_path: Path) -> Iterator[Partner]:
    with served(loop, tmp_path, Careless) as running:
        yield running


def failed_step(report: Report) -> StepName:
    """Return the step that got no answer."""
    return next(step.name for step in report.steps if step.outcome is Outcome.FAILED)


def test_a_wrong_password_ends_at_signing_in_and_says_so(partner: Partner) -> None:
    report = probe(replace(partner, secret=Secret(password="battery staple")))
    assert failed_step(report) is StepName.SIGN_IN
    assert report.trouble == "The server refused the user or password."
    assert [step.outcome for step in report.steps] == [Outcome.YES, Outcome.YES, Outcome.FAILED]


def test_a_changed_host_key_ends_before_signing_in_and_names_both_keys(partner: Partner) -> None:
    pinned = public_line(new_key())
    report = probe(partner, host_keys=[{"key": pinned}])
    assert failed_step(report) is StepName.HOST_KEY
    assert report.trouble.count("SHA256:") == 2
    assert "ask the partner" in report.trouble
    assert propose(report).mode is None


def test_without_a_key_that_is_valid_now_nothing_is_connected_to(partner: Partner) -> None:
    over = partner.groups["host_keys"][0] | {"valid_to": "2020-01-01T00:00:00+00:00"}
    report = probe(partner, host_keys=[over])
    assert failed_step(report) is StepName.HOST_KEY
    assert "pin the server's current key" in report.trouble


def test_an_address_where_nobody_listens_ends_at_the_first_step(partner: Partner) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        report = probe(partner, endpoint={"port": sock.getsockname()[1]})
    assert failed_step(report) is StepName.CONNECT
    assert "nothing listens" in report.trouble.lower()


def test_a_listener_that_never_speaks_ends_within_the_connect_bound(partner: Partner) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        limits = {"connect_timeout_seconds": IDLE_SECONDS}
        report = probe(partner, endpoint={"port": silent.getsockname()[1]}, limits=limits)
        took = time.monotonic() - began
    assert failed_step(report) is StepName.HOST_KEY
    assert "did not finish the connection in 2 s" in report.trouble
    assert took < BOUND_SECONDS


def test_a_scratch_folder_that_does_not_exist_is_named_as_the_trouble(partner: Partner) -> None:
    scratch_of(partner).rmdir()
    report = probe(partner)
    assert report.trouble == "The scratch folder that the contract agrees on does not exist at the partner."
    assert report.leftovers == ()


def test_a_scratch_folder_that_may_not_be_written_is_told_with_the_servers_words(
    loop: LoopThread, tmp_path: Path
) -> None:
    with hostile_server(loop, _with_folder(tmp_path)) as make:
        partner = _scratched(make(Trick.NONE), "/scratch/nowhere")
        report = probe(partner)
    assert "does not exist" in report.trouble


HANGS = {
    Step.LOOK: {StepName.SCRATCH},
    Step.OPEN: {StepName.CREATE},
    Step.WRITE: {StepName.WRITE},
    Step.FSYNC: {StepName.FLUSH},
    Step.CLOSE: {StepName.CLOSE},
    Step.READ_BACK: {StepName.SIZE},
    Step.REMOVE: {StepName.REMOVE},
    Step.PUBLISH: {StepName.RENAME},
}


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.DROP_BEFORE, Fault.DROP_AFTER])
@pytest.mark.parametrize("step", HANGS)
def test_a_server_that_hangs_or_drops_at_any_request_ends_the_probe_there_and_in_time(
    faulty: Callable[..., Partner], step: Step, fault: Fault
) -> None:
    partner = with_scratch(faulty(step, fault))
    began = time.monotonic()
    report = probe(partner, limits={"idle_timeout_seconds": IDLE_SECONDS})
    assert time.monotonic() - began < BOUND_SECONDS
    failed = {each.name for each in report.steps if each.outcome is Outcome.FAILED}
    assert HANGS[step] <= failed
    assert report.trouble
    assert propose(report).mode is None
    # Whatever stands there afterwards is told; nothing is called removed that is not.
    assert {each.name for each in scratch_of(partner).iterdir()} <= set(report.leftovers)


def test_after_a_lost_connection_the_files_are_removed_over_another_one(faulty: Callable[..., Partner]) -> None:
    partner = with_scratch(faulty(Step.PUBLISH, Fault.DROP_AFTER))
    report = probe(partner)
    assert "connection was lost" in report.trouble
    assert report.steps[-1].name is StepName.CLEAN_UP
    assert report.leftovers == ()
    assert list(scratch_of(partner).iterdir()) == []


@pytest.mark.parametrize(
    "trick", [Trick.ENDLESS_HANDLE, Trick.ANNOUNCES_GIGABYTES, Trick.ANSWERS_A_STRANGER, Trick.CUTS_ATTRIBUTES]
)
def test_a_server_that_talks_nonsense_proves_nothing(loop: LoopThread, tmp_path: Path, trick: Trick) -> None:
    with hostile_server(loop, _with_folder(tmp_path)) as make:
        report = probe(_scratched(make(trick)))
    assert report.trouble
    assert propose(report).mode is None


def test_what_a_stranger_says_is_shown_bounded_and_with_its_tricks_visible(loop: LoopThread, tmp_path: Path) -> None:
    for trick in (Trick.ENDLESS_TEXT, Trick.ESCAPES_IN_TEXT, Trick.LATIN1_TEXT):
        with hostile_server(loop, _with_folder(tmp_path / trick)) as make:
            report = probe(_scratched(make(trick)))
        said = " ".join(step.words for step in report.steps)
        assert "\x1b" not in said
        assert max(len(step.words) for step in report.steps) < 1_000
        assert Report.from_json(report.to_json()) == report


def test_a_server_that_lies_about_links_is_not_believed(loop: LoopThread, tmp_path: Path) -> None:
    with hostile_server(loop, _with_folder(tmp_path)) as make:
        honest = probe(_scratched(make(Trick.NONE)))
        liar = probe(_scratched(make(Trick.LIES_ABOUT_LINKS)))
    assert honest.findings.link_works
    assert liar.findings.link_works is False


def _with_folder(root: Path) -> Path:
    (root / "scratch").mkdir(parents=True)
    return root


def _scratched(partner: Partner, folder: str = "/scratch") -> Partner:
    paths: dict[str, Any] = {**partner.groups["paths"], "directory": "/upload", "scratch_directory": folder}
    return replace(partner, groups={**partner.groups, "paths": paths})
