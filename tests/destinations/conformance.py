"""What every destination must do: the conformance suite of `exports.destinations.protocol.Session`.

To prove a new destination, write a module `test_conformance_of_….py` with a fixture `destination` that returns a
`Partner` whose `root` is the directory its files land in, and import every test of the suite:

    from tests.destinations.conformance import *
    from tests.destinations.conformance_deliveries import *
    from tests.destinations.conformance_scratch import *

The suite asks for nothing but the protocol, and looks at `root` behind the destination's back. What it holds:
four kinds of sightings are kept apart; an upload is complete, exclusive and verified, or names the phase it
ended in; one publish request never replaces a file without an agreement, also in a race; a session in doubt
answers everything with doubt and raises nothing; and a whole delivery ends as the reference says.
"""

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exports.contracts import Contract
from exports.destinations.naming import temporary_name
from exports.destinations.protocol import Session, Uploaded, never, no_progress
from exports.evidence import (
    Absent,
    Accepted,
    NoReply,
    Phase,
    Present,
    PublishForm,
    Refused,
    Trouble,
    Unanswered,
    UploadFailed,
)
from tests.destinations.partners import Export, Partner, make_export

REQUEST = 32_256  # bytes of one write request; sizes around it are where blocks are miscounted
AGREED: dict[str, Any] = {"publish": {"overwrite": "posix_rename"}}
DIRECT: dict[str, Any] = {"publish": {"mode": "direct_write", "probed": {"exclusive_create_refuses": True}}}
RACES = 20


@pytest.fixture
def contract(destination: Partner) -> Contract:
    return destination.contract()


@pytest.fixture
def session(destination: Partner, contract: Contract) -> Iterator[Session]:
    opened = destination.open(contract)
    yield opened
    opened.close()


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return make_export(tmp_path)


def upload(session: Session, contract: Contract, export: Export, attempt: str | None = None) -> str:
    """Upload under a temporary name of a fresh attempt; returns that name."""
    name = temporary_name(contract, export.expected.name, attempt or str(uuid.uuid4()))
    done = session.upload(export.path, export.expected.size, name, progress=no_progress, abandon=never)
    assert done == Uploaded(export.expected.size), done
    return name


def test_a_name_that_is_not_there_is_absent(session: Session) -> None:
    assert session.look("contacts-none.csv") == Absent()


def test_a_file_is_present_with_its_size(session: Session, destination: Partner) -> None:
    (destination.root / "contacts-there.csv").write_bytes(b"x" * 7)
    assert session.look("contacts-there.csv") == Present(7)


def test_a_directory_under_a_final_name_is_present_and_no_regular_file(session: Session, destination: Partner) -> None:
    (destination.root / "contacts-dir.csv").mkdir()
    seen = session.look("contacts-dir.csv")
    assert isinstance(seen, Present)
    assert not seen.regular


def test_a_link_that_leads_nowhere_still_occupies_its_name(session: Session, destination: Partner) -> None:
    (destination.root / "contacts-link.csv").symlink_to("nowhere")
    seen = session.look("contacts-link.csv")
    assert isinstance(seen, Present)
    assert not seen.regular


@pytest.mark.parametrize("size", [0, 1, REQUEST - 1, REQUEST, REQUEST + 1, 65 * REQUEST + 17])
def test_an_upload_arrives_byte_for_byte(
    session: Session, contract: Contract, destination: Partner, tmp_path: Path, size: int
) -> None:
    export = make_export(tmp_path, (bytes(range(251)) * (size // 251 + 1))[:size])
    name = upload(session, contract, export)
    assert (destination.root / name).read_bytes() == export.content


def test_progress_ends_at_the_whole_size_and_never_goes_back(
    session: Session, contract: Contract, tmp_path: Path
) -> None:
    export = make_export(tmp_path, b"c" * (3 * 1024 * 1024 + 5))
    told: list[int] = []
    name = temporary_name(contract, export.expected.name, "1")
    session.upload(export.path, export.expected.size, name, progress=told.append, abandon=never)
    assert told == sorted(told)
    assert told[-1] == export.expected.size
    assert len(told) > 1


def test_a_temporary_name_that_exists_is_never_reopened(
    session: Session, contract: Contract, destination: Partner, export: Export
) -> None:
    name = temporary_name(contract, export.expected.name, "1")
    (destination.root / name).write_bytes(b"a paused worker's")
    done = session.upload(export.path, export.expected.size, name, progress=no_progress, abandon=never)
    assert isinstance(done, UploadFailed)
    assert (done.phase, done.trouble) == (Phase.OPEN, Trouble.STATUS)
    assert (destination.root / name).read_bytes() == b"a paused worker's"


def test_a_local_file_that_is_not_the_authorized_one_is_not_uploaded_as_it(
    session: Session, contract: Contract, export: Export
) -> None:
    name = temporary_name(contract, export.expected.name, "1")
    done = session.upload(export.path, export.expected.size + 1, name, progress=no_progress, abandon=never)
    assert isinstance(done, UploadFailed)
    assert done.trouble is Trouble.LOCAL
    assert not session.doubtful


def test_a_missing_local_file_is_a_local_trouble_without_its_path(
    session: Session, contract: Contract, export: Export
) -> None:
    export.path.unlink()
    name = temporary_name(contract, export.expected.name, "1")
    done = session.upload(export.path, 5, name, progress=no_progress, abandon=never)
    assert isinstance(done, UploadFailed)
    assert done.trouble is Trouble.LOCAL
    assert str(export.path) not in done.text


def test_an_upload_that_is_called_off_ends_before_the_end_of_the_file(
    session: Session, contract: Contract, destination: Partner, tmp_path: Path
) -> None:
    export = make_export(tmp_path, b"d" * (8 * 1024 * 1024))
    name = temporary_name(contract, export.expected.name, "1")
    asked = iter([False, False])
    done = session.upload(
        export.path,
        export.expected.size,
        name,
        progress=no_progress,
        abandon=lambda: next(asked, True),
    )
    assert isinstance(done, UploadFailed)
    assert (done.phase, done.trouble) == (Phase.WRITE, Trouble.ABANDONED)
    assert (destination.root / name).stat().st_size < export.expected.size


def test_publishing_gives_the_file_its_final_name(
    session: Session, contract: Contract, destination: Partner, export: Export
) -> None:
    name = upload(session, contract, export)
    assert session.publish(name, export.expected.name, overwrite=False) == Accepted()
    assert (destination.root / export.expected.name).read_bytes() == export.content


def test_publishing_onto_a_taken_name_is_refused_and_leaves_it_as_it_was(
    session: Session, contract: Contract, destination: Partner, export: Export
) -> None:
    (destination.root / export.expected.name).write_bytes(b"somebody else's")
    name = upload(session, contract, export)
    answer = session.publish(name, export.expected.name, overwrite=False)
    assert isinstance(answer, Refused)
    assert answer.code in {4, 11}
    assert (destination.root / export.expected.name).read_bytes() == b"somebody else's"
    assert not session.doubtful


def test_publishing_a_temporary_name_that_is_gone_is_refused_with_its_code(session: Session) -> None:
    answer = session.publish(".contacts-x.csv.1.part", "contacts-x.csv", overwrite=False)
    assert isinstance(answer, Refused)
    assert answer.code == 2


def test_without_an_agreed_form_there_is_no_overwriting_request(session: Session) -> None:
    assert session.publish_form(overwrite=True) is None


def test_with_an_agreed_form_a_file_is_replaced_at_once(destination: Partner, export: Export) -> None:
    if not destination.overwrites:
        pytest.skip("this destination has no atomic overwriting form")
    contract = destination.contract(**AGREED)
    session = destination.open(contract)
    (destination.root / export.expected.name).write_bytes(b"the old one")
    name = upload(session, contract, export)
    assert session.publish_form(overwrite=True) is PublishForm.POSIX_RENAME
    assert session.publish(name, export.expected.name, overwrite=True) == Accepted()
    session.close()
    assert (destination.root / export.expected.name).read_bytes() == export.content
    assert name not in destination.names()


def test_a_direct_write_creates_its_name_exclusively(destination: Partner, export: Export) -> None:
    session = destination.open(destination.contract(**DIRECT))
    arguments = (export.path, export.expected.size, export.expected.name)
    first = session.write_final(*arguments, progress=no_progress, abandon=never)
    second = session.write_final(*arguments, progress=no_progress, abandon=never)
    session.close()
    assert first == Accepted()
    assert isinstance(second, Refused)
    assert (destination.root / export.expected.name).read_bytes() == export.content


def test_removing_a_temporary_name_twice_is_as_good_as_once(
    session: Session, contract: Contract, destination: Partner, export: Export
) -> None:
    name = upload(session, contract, export)
    assert session.remove(name) == Accepted()
    assert session.remove(name) == Accepted()
    assert name not in destination.names()


@pytest.mark.parametrize("content", [b"", b"sha256  name\n"])
def test_a_companion_file_is_written_whole_and_never_over_another(
    session: Session, destination: Partner, content: bytes
) -> None:
    assert session.put(content, "contacts-1.csv.fin", overwrite=False) == Accepted()
    assert isinstance(session.put(b"again", "contacts-1.csv.fin", overwrite=False), Refused)
    assert (destination.root / "contacts-1.csv.fin").read_bytes() == content
    assert destination.names() == ["contacts-1.csv.fin"]


def test_reading_back_tells_the_hash_where_the_contract_asks_for_it(destination: Partner, export: Export) -> None:
    contract = destination.contract(permissions={"may_read": True}, verification={"read_back": True})
    session = destination.open(contract)
    (destination.root / export.expected.name).write_bytes(export.content)
    seen = session.read_back(export.expected.name)
    session.close()
    assert seen == Present(export.expected.size, export.expected.sha256)


def test_a_checksum_that_the_server_does_not_offer_is_no_hash_and_no_trouble(
    destination: Partner, export: Export
) -> None:
    session = destination.open(destination.contract(verification={"checksum": "sha256"}))
    (destination.root / export.expected.name).write_bytes(export.content)
    seen = session.read_back(export.expected.name)
    assert not session.doubtful
    session.close()
    wanted = export.expected.sha256 if destination.hashes else None
    assert seen == Present(export.expected.size, wanted)


def test_several_names_are_looked_at_together_in_the_final_directory_and_beside_it(
    session: Session, destination: Partner
) -> None:
    (destination.root / "acks").mkdir()
    (destination.root / "contacts-1.csv").write_bytes(b"1")
    (destination.root / "acks" / "contacts-1.csv").write_bytes(b"22")
    acks = f"{destination.groups['paths']['directory'].rstrip('/')}/acks"
    names = ["contacts-1.csv", "contacts-2.csv"]
    assert session.look_in("", names) == {"contacts-1.csv": Present(1), "contacts-2.csv": Absent()}
    assert session.look_in(acks, names) == {"contacts-1.csv": Present(2), "contacts-2.csv": Absent()}


def test_in_a_directory_that_is_not_there_no_name_is_called_absent(session: Session, destination: Partner) -> None:
    nowhere = f"{destination.groups['paths']['directory'].rstrip('/')}/nowhere"
    (seen,) = session.look_in(nowhere, ["contacts-1.csv"]).values()
    assert isinstance(seen, Unanswered)


def test_a_small_file_is_read_whole_and_a_larger_one_not_at_all(destination: Partner) -> None:
    session = destination.open(destination.contract(permissions={"may_read": True}))
    (destination.root / "contacts-1.csv.ack").write_bytes(b"a" * 100)
    assert session.fetch("", "contacts-1.csv.ack", 100) == b"a" * 100
    assert session.fetch("", "contacts-1.csv.ack", 99) is None
    assert session.fetch("", "contacts-2.csv.ack", 99) is None
    assert not session.doubtful
    session.close()


def test_nothing_is_read_where_the_contract_lets_nothing_be_read(session: Session, destination: Partner) -> None:
    (destination.root / "contacts-1.csv.ack").write_bytes(b"a")
    assert session.fetch("", "contacts-1.csv.ack", 100) is None


def test_a_fresh_session_is_healthy_and_a_closed_one_is_in_doubt(session: Session) -> None:
    assert session.healthy()
    session.close()
    assert session.doubtful
    assert not session.healthy()


def test_a_session_in_doubt_raises_nothing_and_answers_nothing(
    session: Session, contract: Contract, export: Export
) -> None:
    session.close()
    name = temporary_name(contract, export.expected.name, "1")
    assert isinstance(session.look("x.csv"), Unanswered)
    assert isinstance(session.read_back("x.csv"), Unanswered)
    assert isinstance(
        session.upload(export.path, export.expected.size, name, progress=no_progress, abandon=never),
        UploadFailed,
    )
    assert isinstance(session.publish(name, "x.csv", overwrite=False), NoReply)
    assert isinstance(session.remove(name), NoReply)
    assert isinstance(session.put(b"", "x.csv.fin", overwrite=False), NoReply)
    session.close()


def test_a_deadline_that_has_passed_breaks_the_session(session: Session) -> None:
    session.set_deadline(0.0)
    ended = threading.Event()
    for _ in range(200):  # the deadline is kept by another thread: at most 200 x 50 ms until it has acted
        seen = session.look("contacts-x.csv")
        if isinstance(seen, Unanswered):
            break
        ended.wait(0.05)
    assert isinstance(seen, Unanswered)
    assert seen.trouble is Trouble.TIMEOUT
    assert session.doubtful


def test_of_two_that_publish_one_name_at_once_at_most_one_is_accepted(destination: Partner, tmp_path: Path) -> None:
    race(destination, tmp_path, RACES)


@pytest.mark.soak
def test_of_three_hundred_pairs_no_two_publish_one_name(destination: Partner, tmp_path: Path) -> None:
    race(destination, tmp_path, 300)


def race(destination: Partner, tmp_path: Path, pairs: int) -> None:
    """Let two sessions publish the same name at the same moment, again and again."""
    contract = destination.contract()
    sessions = [destination.open(contract), destination.open(contract)]
    for at in range(pairs):
        final = f"contacts-race-{at}.csv"
        exports = [make_export(tmp_path, bytes([side]) * 500, final) for side in (1, 2)]
        names = [upload(*each) for each in zip(sessions, [contract] * 2, exports, strict=True)]
        answers = publish_together(sessions, names, final)
        accepted = [side for side, answer in enumerate(answers) if answer == Accepted()]
        assert len(accepted) == 1, answers
        assert (destination.root / final).read_bytes() == exports[accepted[0]].content
    for session in sessions:
        session.close()


def publish_together(sessions: list[Session], names: list[str], final: str) -> list[object]:
    """Publish from two threads that wait for each other first."""
    gate = threading.Barrier(2)
    answers: list[object] = [None, None]

    def publish(side: int) -> None:
        gate.wait(10)
        answers[side] = sessions[side].publish(names[side], final, overwrite=False)

    threads = [threading.Thread(target=publish, args=(side,)) for side in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return answers


def test_names_of_temporary_files_are_listed_and_one_is_removed_without_its_neighbours(
    session: Session, contract: Contract, destination: Partner, export: Export
) -> None:
    names = {upload(session, contract, export) for _ in range(3)}
    assert names <= set(session.temporaries() or [])
    gone = names.pop()
    assert session.remove(gone) == Accepted()
    assert set(destination.names()) == names
    assert gone not in (session.temporaries() or [])


def test_a_session_in_doubt_lists_nothing(session: Session) -> None:
    session.close()
    assert session.temporaries() is None
