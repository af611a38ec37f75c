"""A partner that says anything at all: every answer is read for what it is, bounded, and never believed too far."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exports.destinations.protocol import ConnectTrouble, CouldNotConnect
from exports.evidence import (
    Absent,
    Conclusion,
    Evidence,
    Forbidden,
    Phase,
    Present,
    PublishAnswered,
    PublishSent,
    Refused,
    Trouble,
    Unanswered,
    UploadFailed,
    encode,
)
from tests.destinations.hostile import Trick, hostile_server
from tests.destinations.loops import LoopThread
from tests.destinations.partners import Partner, deliver_to, make_export

Hostile = Callable[[Trick], Partner]
MANY_WRITES = 200 * 32_256
LISTING: dict[str, Any] = {
    "permissions": {"may_stat": False, "may_list": True},
    "verification": {"publish_reply_is_proof": True},
}


@pytest.fixture
def hostile(loop: LoopThread, tmp_path: Path) -> Iterator[Hostile]:
    root = tmp_path / "hostile"
    root.mkdir()
    with hostile_server(loop, root) as partner:
        yield partner


def failure(evidence: tuple[Evidence, ...]) -> UploadFailed:
    """Return the one failure before publishing."""
    (failed,) = [each for each in evidence if isinstance(each, UploadFailed)]
    return failed


def test_without_a_trick_it_is_a_server_like_any_other(hostile: Hostile, tmp_path: Path) -> None:
    partner, export = hostile(Trick.NONE), make_export(tmp_path)
    assert deliver_to(partner, export).verdict.conclusion is Conclusion.COMPLETED
    assert (partner.root / export.expected.name).read_bytes() == export.content


@pytest.mark.parametrize("window", [1, 2, 16, 64])
def test_answers_in_another_order_than_the_questions_are_all_seen(
    hostile: Hostile, tmp_path: Path, window: int
) -> None:
    partner = hostile(Trick.REORDERS)
    export = make_export(tmp_path, bytes(range(256)) * 10_000)
    limits = {"max_outstanding_writes": window, "request_bytes": 8_192, "attempt_deadline_seconds": 60}
    delivered = deliver_to(partner, export, limits=limits)
    assert delivered.verdict.conclusion is Conclusion.COMPLETED
    assert (partner.root / export.expected.name).read_bytes() == export.content


def test_one_refused_write_among_two_hundred_is_seen_though_the_size_is_right(hostile: Hostile, tmp_path: Path) -> None:
    delivered = deliver_to(hostile(Trick.REFUSES_ONE_WRITE), make_export(tmp_path, b"w" * MANY_WRITES))
    assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
    failed = failure(delivered.evidence)
    assert (failed.phase, failed.code, failed.text) == (Phase.WRITE, 4, "one of them")


def test_a_status_code_beyond_the_protocols_version_is_kept(hostile: Hostile, tmp_path: Path) -> None:
    delivered = deliver_to(hostile(Trick.QUOTA_STATUS), make_export(tmp_path, b"w" * MANY_WRITES))
    assert failure(delivered.evidence).code == 15


def publish_refused(hostile: Hostile, trick: Trick, tmp_path: Path) -> Refused:
    """Let a publish be refused because the name is taken, and return the refusal."""
    partner, export = hostile(trick), make_export(tmp_path)
    session = partner.open()
    (partner.root / "t").write_bytes(b"1")
    (partner.root / export.expected.name).write_bytes(b"2")
    answer = session.publish("t", export.expected.name, overwrite=False)
    assert not session.doubtful
    session.close()
    assert isinstance(answer, Refused)
    return answer


def test_a_status_text_that_is_not_utf8_costs_its_odd_bytes_and_nothing_else(hostile: Hostile, tmp_path: Path) -> None:
    answer = publish_refused(hostile, Trick.LATIN1_TEXT, tmp_path)
    assert (answer.code, answer.text) == (4, "\ufffdchec, d\ufffdj\ufffd l\ufffd")


def test_escapes_in_a_status_text_are_shown_and_not_obeyed(hostile: Hostile, tmp_path: Path) -> None:
    answer = publish_refused(hostile, Trick.ESCAPES_IN_TEXT, tmp_path)
    assert answer.text == "␛[2J␍␊OK: all is well␀<U+202E>"


def test_a_status_text_without_end_is_cut(hostile: Hostile, tmp_path: Path) -> None:
    answer = publish_refused(hostile, Trick.ENDLESS_TEXT, tmp_path)
    assert len(answer.text) == 500
    assert len(encode(PublishAnswered(answer))) < 1_000


def test_a_server_that_tells_no_size_gets_nothing_published(hostile: Hostile, tmp_path: Path) -> None:
    delivered = deliver_to(hostile(Trick.TELLS_NO_SIZE), make_export(tmp_path))
    assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert failure(delivered.evidence).phase is Phase.VERIFY


def test_a_server_that_tells_no_file_type_is_believed_about_the_size(hostile: Hostile, tmp_path: Path) -> None:
    delivered = deliver_to(hostile(Trick.TELLS_NO_TYPE), make_export(tmp_path))
    assert delivered.verdict.conclusion is Conclusion.COMPLETED


@pytest.mark.parametrize(
    "trick",
    [
        Trick.ANSWERS_A_STRANGER,
        Trick.ANSWERS_THE_WRONG_KIND,
        Trick.ANNOUNCES_GIGABYTES,
        Trick.CUTS_ATTRIBUTES,
    ],
)
def test_an_answer_that_makes_no_sense_ends_the_session_and_proves_nothing(hostile: Hostile, trick: Trick) -> None:
    partner = hostile(trick)
    (partner.root / "contacts-x.csv").write_bytes(b"there")
    session = partner.open()
    seen = session.look("contacts-x.csv")
    assert isinstance(seen, Unanswered)
    assert seen.trouble is Trouble.PROTOCOL
    assert session.doubtful
    assert session.look("contacts-x.csv") == seen, "the stream was read on although it was out of step"
    session.close()


def test_a_handle_longer_than_the_protocol_allows_ends_the_upload(hostile: Hostile, tmp_path: Path) -> None:
    delivered = deliver_to(hostile(Trick.ENDLESS_HANDLE), make_export(tmp_path))
    assert (failure(delivered.evidence).phase, failure(delivered.evidence).trouble) == (
        Phase.OPEN,
        Trouble.PROTOCOL,
    )


def test_a_listing_without_end_is_cut_and_answers_nothing(hostile: Hostile) -> None:
    partner = hostile(Trick.ENDLESS_NAMES)
    session = partner.open(partner.contract(**LISTING))
    seen = session.look("contacts-x.csv")
    session.close()
    assert isinstance(seen, Unanswered)
    assert "too many names" in seen.text


def test_names_that_are_not_utf8_do_not_hide_the_others(hostile: Hostile) -> None:
    partner = hostile(Trick.LATIN1_NAMES)
    (partner.root / "contacts-x.csv").write_bytes(b"1234567")
    session = partner.open(partner.contract(**LISTING))
    assert session.look("contacts-x.csv") == Present(7)
    assert session.look("contacts-y.csv") == Absent()
    session.close()


def test_where_nothing_may_be_looked_at_nothing_is_asked(hostile: Hostile) -> None:
    partner = hostile(Trick.ANNOUNCES_GIGABYTES)
    blind = {"may_stat": False, "may_list": False}
    contract = partner.contract(permissions=blind, verification={"publish_reply_is_proof": True})
    session = partner.open(contract)
    assert isinstance(session.look("contacts-x.csv"), Forbidden)
    assert not session.doubtful
    session.close()


def test_a_link_that_the_server_only_pretends_to_make_is_not_completed(hostile: Hostile, tmp_path: Path) -> None:
    partner, export = hostile(Trick.LIES_ABOUT_LINKS), make_export(tmp_path)
    delivered = deliver_to(partner, export)
    assert delivered.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN
    assert delivered.verdict.row == "accepted, not confirmed"


def test_an_answer_in_drops_is_ended_by_the_deadline_of_the_attempt(hostile: Hostile, tmp_path: Path) -> None:
    partner = hostile(Trick.DRIBBLES)
    began = time.monotonic()
    delivered = deliver_to(partner, make_export(tmp_path))
    assert time.monotonic() - began < 10 + 5
    assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert failure(delivered.evidence).trouble is Trouble.TIMEOUT
    assert not [each for each in delivered.evidence if isinstance(each, PublishSent)]


def test_a_look_by_itself_is_bounded_too_however_busy_the_server_keeps_us(hostile: Hostile) -> None:
    partner = hostile(Trick.DRIBBLES)
    (partner.root / "contacts-x.csv").write_bytes(b"there")
    session = partner.open()
    began = time.monotonic()
    seen = session.look("contacts-x.csv")
    assert time.monotonic() - began < 3 + 2
    assert isinstance(seen, Unanswered)
    assert seen.trouble is Trouble.TIMEOUT
    session.close()


@pytest.mark.parametrize(
    ("trick", "kind"),
    [(Trick.NEVER_GREETS, ConnectTrouble.TIMEOUT), (Trick.OLD_VERSION, ConnectTrouble.SFTP_NOT_OFFERED)],
)
def test_a_subsystem_that_does_not_greet_as_agreed_is_no_session(
    hostile: Hostile, trick: Trick, kind: ConnectTrouble
) -> None:
    began = time.monotonic()
    with pytest.raises(CouldNotConnect) as caught:
        hostile(trick).open()
    assert caught.value.kind is kind
    assert time.monotonic() - began < 3 + 2
