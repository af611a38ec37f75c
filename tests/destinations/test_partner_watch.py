"""The watcher catches what it is there for, and lets pass what is agreed."""

from __future__ import annotations

import secrets
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from config.devstack.partner_files import Did, Event
from exports.destinations.naming import temporary_name
from exports.destinations.protocol import Session, never, no_progress
from exports.evidence import Accepted
from exports.secrets import Secret
from tests import partner_watch
from tests.destinations.faulty import faulty_server
from tests.destinations.partners import Export, Partner, deliver_to, make_export
from tests.partner_watch import noted_in, violations

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from config.devstack.partner import PartnerAccount
    from config.devstack.stack import Stack
    from exports.contracts import Contract
    from tests.destinations.loops import LoopThread

AGREED = {"publish": {"overwrite": "posix_rename"}}


@pytest.fixture
def noted() -> list[Event]:
    return []


@pytest.fixture
def partner(loop: LoopThread, tmp_path: Path, noted: list[Event]) -> Iterator[Partner]:
    """Return a server whose events this test judges by itself."""
    root = tmp_path / "watched"
    root.mkdir()
    with faulty_server(loop, root, noted.append) as make:
        yield make()


@pytest.fixture
def partner_account(stack: Stack, tmp_path: Path) -> PartnerAccount:
    """Return an account at the run's embedded partner, to which one file was delivered."""
    account = stack.partner.add_account(f"watched-{secrets.token_hex(4)}")
    groups = {
        "endpoint": {"host": account.host, "port": account.port},
        "auth": {"user": account.username, "secret_id": "test"},
        "host_keys": [{"key": account.host_key}],
        "paths": {"directory": "/"},
    }
    deliver_to(Partner("embedded", account.directory, groups, Secret(password=account.password)), make_export(tmp_path))
    return account


@pytest.fixture
def contract(partner: Partner) -> Contract:
    return partner.contract(**AGREED)


@pytest.fixture
def session(partner: Partner, contract: Contract) -> Iterator[Session]:
    opened = partner.open(contract)
    yield opened
    opened.close()


def sent(session: Session, contract: Contract, export: Export, attempt: str) -> str:
    """Upload under the temporary name of an attempt."""
    name = temporary_name(contract, export.expected.name, attempt)
    session.upload(export.path, export.expected.size, name, progress=no_progress, abandon=never)
    return name


def test_an_ordinary_delivery_is_nothing_to_report(partner: Partner, tmp_path: Path, noted: list[Event]) -> None:
    deliver_to(partner, make_export(tmp_path))
    assert [event.did for event in noted] == [Did.CREATED, Did.LINKED, Did.REMOVED]
    assert violations(noted) == []


def test_a_name_that_is_written_again_after_the_partner_took_the_file_is_caught(
    session: Session, contract: Contract, partner: Partner, tmp_path: Path, noted: list[Event]
) -> None:
    export = make_export(tmp_path)
    for attempt in ("1", "2"):
        assert session.publish(sent(session, contract, export, attempt), export.expected.name, overwrite=False) == (
            Accepted()
        )
        (partner.root / export.expected.name).unlink()  # the partner's own doing
    (words,) = violations(noted)
    assert words.endswith("was written more than once: linked, linked")


def test_an_agreed_overwriting_is_no_violation(
    session: Session, contract: Contract, tmp_path: Path, noted: list[Event]
) -> None:
    export = make_export(tmp_path)
    session.publish(sent(session, contract, export, "1"), export.expected.name, overwrite=False)
    session.publish(sent(session, contract, export, "2"), export.expected.name, overwrite=True)
    assert noted[-1] == Event(Did.REPLACED, noted[-1].path, stood=True)
    assert violations(noted) == []


def test_a_name_given_to_a_file_that_is_still_being_written_is_caught(
    session: Session, partner: Partner, contract: Contract, tmp_path: Path, noted: list[Event]
) -> None:
    export, beside = make_export(tmp_path), partner.open(contract)
    name = temporary_name(contract, export.expected.name, "1")

    def publish_too_early(confirmed: int) -> None:
        if confirmed and not any(event.did is Did.LINKED for event in noted):
            beside.publish(name, export.expected.name, overwrite=False)

    session.upload(export.path, export.expected.size, name, progress=publish_too_early, abandon=never)
    beside.close()
    (words,) = violations(noted)
    assert words.endswith("was seen half-written")


def test_a_final_name_that_is_removed_is_caught(session: Session, tmp_path: Path, noted: list[Event]) -> None:
    export = make_export(tmp_path)
    session.write_final(export.path, export.expected.size, export.expected.name, progress=no_progress, abandon=never)
    session.remove(export.expected.name)
    assert [words.split(" ", 1)[1] for words in violations(noted)] == ["was removed"]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([Event(Did.OPENED, "/p/contacts-1.csv")], "opened for writing without asking that it be new"),
        ([Event(Did.RENAMED, "/p/contacts-1.csv", stood=True)], "replaced without saying so"),
        ([Event(Did.LINKED, "/p/contacts-1.csv"), Event(Did.CREATED, "/p/contacts-1.csv")], "more than once"),
    ],
)
def test_what_no_code_of_ours_can_do_is_caught_too(events: list[Event], words: str) -> None:
    assert words in violations(events)[0]


def a_process(**more: Any) -> Any:
    """Stand for a process of a test run, of which the hooks only see this."""
    return SimpleNamespace(config=SimpleNamespace(stash=pytest.Stash(), **more), exitstatus=pytest.ExitCode.OK)


@pytest.mark.parametrize("times", [1, 2])
def test_a_violation_in_any_process_fails_the_whole_session_though_every_test_passed(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    worker, main = a_process(workeroutput={}), a_process()
    monkeypatch.setattr(partner_watch, "SEEN", [Event(Did.LINKED, "/p/contacts-1.csv")] * times)
    partner_watch.pytest_sessionfinish(worker)
    monkeypatch.setattr(partner_watch, "SEEN", [])
    partner_watch.pytest_testnodedown(SimpleNamespace(config=main.config, workeroutput=worker.config.workeroutput))

    partner_watch.pytest_sessionfinish(main)

    assert main.exitstatus == (pytest.ExitCode.TESTS_FAILED if times > 1 else pytest.ExitCode.OK)
    written: list[str] = []
    reporter = SimpleNamespace(
        config=main.config, section=written.append, write_line=lambda line, **_: written.append(line)
    )
    partner_watch.pytest_terminal_summary(reporter)
    assert f"1 names, {times - 1} violations" in written


def test_what_the_embedded_partner_noted_is_judged_too(stack: Stack, partner_account: PartnerAccount) -> None:
    del partner_account
    noted = noted_in(stack.partner.journal)
    assert any(event.did is Did.LINKED for event in noted)
    assert violations(noted) == []
