"""What a probe's findings admit: the whole product of them, against the rule said a second time."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from exports.contracts import PublishMode
from exports.probing import Findings, Report, propose
from exports.probing.judging import NO_SAFE_WAY, objections_to
from exports.probing.report import Races, ReportError

TRI = (True, False, None)
OPENSSH, OTHER = "SSH-2.0-OpenSSH_9.2p1 Debian-2", "SSH-2.0-mod_sftp"


def every_report() -> list[Report]:
    """Return a report for every combination of what publishing rests on."""
    product: Any = itertools.product(*[TRI] * 7, *[(0, 1)] * 3, (OPENSSH, OTHER))
    return [
        Report(
            server=server,
            findings=Findings(
                link_works=link,
                link_refuses_existing=link_refuses,
                link_remains=remains,
                may_remove=removes,
                rename_works=rename,
                rename_refuses_existing=rename_refuses,
                create_refuses_existing=create_refuses,
                races=Races(8, lost_rename, 8, lost_link, 8, lost_create),
            ),
        )
        for (
            link,
            link_refuses,
            remains,
            removes,
            rename,
            rename_refuses,
            create_refuses,
            lost_rename,
            lost_link,
            lost_create,
            server,
        ) in product
    ]


def safe(mode: PublishMode, report: Report) -> bool:
    """Say again, and shorter, where two deliveries to one name can never both succeed."""
    found, races = report.findings, report.findings.races
    link = found.link_works is True and found.link_refuses_existing is True and not races.link_double_wins
    refuses = found.rename_works is True and found.rename_refuses_existing is True and not races.rename_double_wins
    return {
        PublishMode.HARDLINK_REMOVE: link and found.may_remove is True and found.link_remains is not False,
        PublishMode.RENAME_NOREPLACE: refuses and found.link_works is True and "OpenSSH" in report.server,
        PublishMode.DIRECT_WRITE: found.create_refuses_existing is True and not races.create_double_wins,
    }[mode]


def test_a_mode_is_admitted_exactly_where_it_is_safe_and_the_safest_is_proposed() -> None:
    reports = every_report()
    assert len(reports) == 3**7 * 2**3 * 2
    proposed = set()
    for report in reports:
        modes = [mode for mode in PublishMode if safe(mode, report)]
        assert [mode for mode in PublishMode if not objections_to(mode, report)] == modes
        proposal = propose(report)
        assert proposal.mode == (modes[0] if modes else None)
        assert all(proposal.why)
        proposed.add(proposal.mode)
    assert proposed == {*PublishMode, None}


def test_where_nothing_is_safe_the_proposal_says_so_and_why_for_each_mode() -> None:
    proposal = propose(Report(server=OPENSSH))
    assert proposal.mode is None
    assert proposal.why[0] == NO_SAFE_WAY
    assert len(proposal.why) == 1 + len(PublishMode)


def test_a_probe_that_ended_early_proposes_nothing_whatever_it_had_found() -> None:
    found = Findings(create_refuses_existing=True)
    proposal = propose(Report(findings=found, trouble="The connection was lost."))
    assert (proposal.mode, proposal.why) == (None, ("The connection was lost.",))


@pytest.mark.parametrize("server", ["SSH-2.0-OpenSSH", "OpenSSH_9.2", "SSH-2.0-Go OpenSSH_9.2", ""])
def test_only_a_server_that_introduces_itself_as_openssh_is_believed_to_rename_by_linking(server: str) -> None:
    found = Findings(link_works=True, link_refuses_existing=True, rename_works=True, rename_refuses_existing=True)
    report = Report(server=OPENSSH, findings=found)
    assert objections_to(PublishMode.RENAME_NOREPLACE, report) == []
    assert objections_to(PublishMode.RENAME_NOREPLACE, replace(report, server=server)) != []


@pytest.mark.parametrize("raw", [None, [], {}, {"format": 2}, {"format": 1, "surprise": 1}, {"format": 1, "server": 3}])
def test_what_is_no_report_is_refused_and_not_guessed_at(raw: object) -> None:
    with pytest.raises(ReportError):
        Report.from_json(raw)
