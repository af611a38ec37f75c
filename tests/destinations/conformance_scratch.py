"""What every destination's scratch must do: the part of the suite that connection tests rest upon."""

from collections.abc import Iterator

import pytest

from exports.destinations.protocol import Stage, open_session
from exports.destinations.scratch import Scratch
from exports.evidence import Absent, Accepted, NoReply, Phase, Present, Refused, Unanswered
from tests.destinations.partners import Partner


@pytest.fixture
def scratch(destination: Partner) -> Iterator[Scratch]:
    """Return the scratch of a session whose directory of final names is empty."""
    opened = destination.open()
    yield opened.scratch()
    opened.close()


def test_a_scratch_creates_exclusively_and_tells_every_part(scratch: Scratch, destination: Partner) -> None:
    parts = scratch.create("probe-1", b"first")
    assert [part.phase for part in parts] == [Phase.OPEN, Phase.WRITE, Phase.FSYNC, Phase.CLOSE]
    assert all(part.answer == Accepted() and part.seconds >= 0 for part in parts)
    (again,) = scratch.create("probe-1", b"second")
    assert isinstance(again.answer, Refused)
    assert (destination.root / "probe-1").read_bytes() == b"first"


def test_a_scratch_looks_lists_reads_and_removes(scratch: Scratch) -> None:
    assert isinstance(scratch.folder(), Present)
    assert scratch.look("probe-1") == Absent()
    scratch.create("probe-1", b"four")
    assert scratch.look("probe-1") == Present(4)
    names = scratch.listed()
    assert isinstance(names, frozenset)
    assert "probe-1" in names
    assert scratch.read("probe-1", 4) == b"four"
    assert isinstance(scratch.read("probe-1", 3), Refused)
    assert isinstance(scratch.read("probe-2", 3), Refused)
    assert scratch.remove("probe-1") == Accepted()
    assert scratch.look("probe-1") == Absent()


def test_a_scratch_links_without_replacing_and_replaces_when_told(scratch: Scratch, destination: Partner) -> None:
    scratch.create("probe-1", b"first")
    scratch.create("probe-2", b"second")
    assert isinstance(scratch.link("probe-1", "probe-2"), Refused)
    assert scratch.link("probe-1", "probe-3") == Accepted()
    assert isinstance(scratch.rename("probe-1", "probe-2"), Refused)
    assert (destination.root / "probe-2").read_bytes() == b"second"
    assert scratch.replace("probe-1", "probe-2") == Accepted()
    assert destination.names() == ["probe-2", "probe-3"]
    assert (destination.root / "probe-2").read_bytes() == b"first"


@pytest.mark.parametrize("name", ["../probe-1", "a/b", "", ".", "..", "/etc/probe", "a..b"])
def test_a_scratch_uses_no_name_that_could_leave_its_folder(scratch: Scratch, name: str) -> None:
    for ask in (
        lambda: scratch.create(name, b""),
        lambda: scratch.look(name),
        lambda: scratch.read(name, 1),
        lambda: scratch.sha256(name),
        lambda: scratch.remove(name),
        lambda: scratch.link("probe-1", name),
        lambda: scratch.replace(name, "probe-1"),
    ):
        with pytest.raises(ValueError, match="plain names"):
            ask()


def test_a_scratch_in_doubt_raises_nothing_and_answers_nothing(destination: Partner) -> None:
    opened = destination.open()
    scratch = opened.scratch()
    opened.close()
    assert isinstance(scratch.folder(), Unanswered)
    assert isinstance(scratch.create("probe-1", b"")[0].answer, NoReply)
    assert isinstance(scratch.look("probe-1"), Unanswered)
    assert isinstance(scratch.listed(), NoReply)
    assert isinstance(scratch.read("probe-1", 1), NoReply)
    assert isinstance(scratch.link("probe-1", "probe-2"), NoReply)
    assert isinstance(scratch.remove("probe-1"), NoReply)
    assert destination.names() == []


def test_opening_tells_each_stage_it_got_through(destination: Partner) -> None:
    passed: list[Stage] = []
    open_session(destination.contract(), destination.secret, destination.surroundings, passed.append).close()
    assert passed == ([Stage.CONNECT] if destination.name == "directory" else list(Stage))
