"""What a probe finds, proposes and refuses on real servers, and that it leaves them as they were."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports.contracts import PublishMode
from exports.probing import Outcome, Report, StepName, propose
from exports.probing.judging import NO_SAFE_WAY, ONLY_LOOKS_FIRST, objections_to
from exports.probing.problems import publishing_problems
from tests.destinations.openssh import sshd
from tests.destinations.proftpd import proftpd
from tests.destinations.test_conformance import RUNNERS
from tests.probing.servers import Careless, Hopeless, Liar, Racy, probe, scratch_of, served, with_scratch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.destinations.loops import LoopThread
    from tests.destinations.partners import Partner

LINK, RENAME, DIRECT = PublishMode.HARDLINK_REMOVE, PublishMode.RENAME_NOREPLACE, PublishMode.DIRECT_WRITE


@pytest.fixture(scope="module", params=RUNNERS)
def partner(request: pytest.FixtureRequest, loop: LoopThread, open_path: Path) -> Iterator[Partner]:
    """Return one running server with a scratch folder, and a file of somebody's beside it."""
    with RUNNERS[request.param](loop, open_path / f"probe-{request.param}") as running:
        (running.root / "somebodys.csv").write_text("not ours")
        yield with_scratch(running)


@pytest.fixture(scope="module")
def report(partner: Partner) -> Report:
    """Return what one probe of this server tells."""
    return probe(partner)


@pytest.fixture
def fresh(open_path: Path) -> Path:
    return open_path / f"probe-{uuid.uuid4().hex}"


def outcomes(report: Report) -> dict[StepName, Outcome]:
    return {step.name: step.outcome for step in report.steps}


def admitted(report: Report) -> set[PublishMode]:
    return {mode for mode in PublishMode if not objections_to(mode, report)}


def test_the_servers_of_the_conformance_suite_publish_by_link(report: Report) -> None:
    assert report.trouble == ""
    assert propose(report).mode is LINK


def test_plain_rename_is_admitted_only_where_the_server_is_known_to_link(partner: Partner, report: Report) -> None:
    assert (RENAME in admitted(report)) is (partner.name == "openssh")
    if partner.name in {"proftpd", "asyncssh"}:
        # It refused when it was tried, and mostly loses no race: exactly what must not be enough. ProFTPD loses one
        # of some thirty, and then the race itself speaks against it.
        assert report.findings.rename_refuses_existing
        lost = report.findings.races.rename_double_wins > 0
        assert lost or objections_to(RENAME, report) == [ONLY_LOOKS_FIRST]


def test_every_step_is_told_once_in_order_with_words(partner: Partner, report: Report) -> None:
    told = [step.name for step in report.steps]
    stages = {StepName.HOST_KEY, StepName.SIGN_IN, StepName.SFTP} if partner.name == "directory" else set()
    assert told == [name for name in StepName if name not in stages]
    assert all(step.words for step in report.steps)
    assert sum(step.took_ms for step in report.steps) > 0


def test_what_the_server_says_of_itself_is_kept(partner: Partner, report: Report) -> None:
    if partner.name == "directory":
        assert (report.server, report.host_key, report.extensions) == ("", "", ())
        return
    assert report.server.startswith("SSH-2.0-")
    assert report.host_key == partner.contract().host_keys[0].fingerprint
    assert "hardlink@openssh.com" in report.extensions


def test_the_permissions_and_offers_of_each_server_are_seen(partner: Partner, report: Report) -> None:
    found = report.findings
    assert (found.may_stat, found.may_list, found.may_read, found.may_remove) == (True, True, True, True)
    assert found.replaces_atomically is partner.overwrites
    assert found.hashes_sha256 is partner.hashes


def test_nothing_is_left_and_nothing_outside_the_scratch_folder_is_touched(partner: Partner, report: Report) -> None:
    assert report.leftovers == ()
    assert list(scratch_of(partner).iterdir()) == []
    assert partner.names() == ["scratch", "somebodys.csv"]
    assert (partner.root / "somebodys.csv").read_text() == "not ours"


def test_a_report_is_read_back_from_its_json_as_it_was(report: Report) -> None:
    assert Report.from_json(report.to_json()) == report


@pytest.mark.parametrize(("manners", "mode"), [(Careless, DIRECT), (Liar, DIRECT), (Racy, DIRECT), (Hopeless, None)])
def test_servers_that_replace_lie_or_race_are_seen_through(
    loop: LoopThread, tmp_path: Path, manners: type[Careless], mode: PublishMode | None
) -> None:
    with served(loop, tmp_path, manners) as partner:
        report = probe(partner)
        contract = partner.contract()
        left = list(scratch_of(partner).iterdir())
    assert admitted(report) == ({mode} if mode else set())
    assert propose(report).mode is mode
    assert left == []
    # The default mode, a link, is refused on each of them: such a contract may not become active.
    assert publishing_problems(contract, report) != []
    assert (NO_SAFE_WAY in publishing_problems(contract, report)) is (mode is None)


def test_a_race_that_is_lost_disproves_what_every_single_request_seemed_to_show(
    loop: LoopThread, tmp_path: Path
) -> None:
    with served(loop, tmp_path, Racy) as partner:
        report = probe(partner)
    found = report.findings
    assert found.rename_refuses_existing
    assert found.link_refuses_existing
    assert found.races.rename_double_wins > 0
    assert found.races.link_double_wins > 0
    assert outcomes(report)[StepName.RACE] is Outcome.NO
    assert any("lost a race" in words for words in objections_to(LINK, report))


def test_where_one_connection_is_agreed_nobody_races(loop: LoopThread, tmp_path: Path) -> None:
    with served(loop, tmp_path, Racy) as partner:
        report = probe(partner, limits={"max_connections": 1})
    assert outcomes(report)[StepName.RACE] is Outcome.SKIPPED


def test_where_nothing_may_be_removed_openssh_publishes_by_rename_and_the_leftovers_are_told(fresh: Path) -> None:
    with sshd(fresh, "ForceCommand internal-sftp -P remove") as server:
        partner = with_scratch(server.partner)
        report = probe(partner)
        left = {each.name for each in scratch_of(partner).iterdir()}
    assert propose(report).mode is RENAME
    assert report.findings.may_remove is False
    assert set(report.leftovers) == left
    assert outcomes(report)[StepName.CLEAN_UP] is Outcome.NO
    assert outcomes(report)[StepName.RACE] is Outcome.SKIPPED


def test_where_links_are_denied_too_even_openssh_is_not_believed(fresh: Path) -> None:
    with sshd(fresh, "ForceCommand internal-sftp -P hardlink") as server:
        report = probe(with_scratch(server.partner))
    assert objections_to(RENAME, report) == [ONLY_LOOKS_FIRST]
    assert propose(report).mode is DIRECT


BOX = "ForceCommand internal-sftp -P stat,lstat,fstat,opendir,readdir,read"


def test_in_a_write_only_box_exclusive_creation_tells_what_looking_may_not(fresh: Path) -> None:
    with sshd(fresh, BOX) as server:
        partner = with_scratch(server.partner)
        report = probe(partner)
        left = list(scratch_of(partner).iterdir())
    found = report.findings
    assert (found.may_stat, found.may_list, found.may_read) == (False, False, False)
    assert found.link_works
    assert found.link_refuses_existing
    assert found.link_remains
    assert propose(report).mode is LINK
    assert left == []


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        (("AllowOverwrite off",), LINK),
        (("AllowOverwrite on", "<Limit RNFR RNTO>", "DenyAll", "</Limit>"), LINK),
        (("AllowOverwrite on", "<Limit DELE>", "DenyAll", "</Limit>"), DIRECT),
    ],
)
def test_proftpd_is_never_believed_to_rename_however_it_is_set(
    fresh: Path, lines: tuple[str, ...], mode: PublishMode
) -> None:
    with proftpd(fresh, *lines) as partner:
        report = probe(with_scratch(partner))
    assert RENAME not in admitted(report)
    assert propose(report).mode is mode


def test_a_contract_without_a_scratch_folder_is_connected_to_and_nothing_more(loop: LoopThread, tmp_path: Path) -> None:
    with served(loop, tmp_path, Careless) as partner:
        paths: dict[str, Any] = {"scratch_directory": ""}
        report = probe(partner, paths=paths)
        names = partner.names()
    assert "no scratch folder" in report.trouble
    assert report.server.startswith("SSH-2.0-")
    assert propose(report).mode is None
    assert names == []


def test_what_earlier_probes_left_is_counted_and_not_touched(loop: LoopThread, tmp_path: Path) -> None:
    with served(loop, tmp_path, Careless) as partner:
        (scratch_of(partner) / "probe-earlier-1").write_text("left")
        report = probe(partner)
        left = [each.name for each in scratch_of(partner).iterdir()]
    assert left == ["probe-earlier-1"]
    assert "1 files of earlier probes" in report.steps[-1].words
