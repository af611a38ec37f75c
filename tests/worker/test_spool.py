"""The spool: private, never through a link, never over somebody else's file, and gone when the attempt is."""

from __future__ import annotations

import logging
import os
import stat
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.worker.spool import ExportFile, Spool, SpoolRefused, file_name, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOB, ATTEMPT = uuid.UUID(int=1), uuid.UUID(int=2)
NAME = file_name(JOB, ATTEMPT)


@pytest.fixture
def place(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def built(spool: Spool, content: bytes = b"id\n1\n") -> ExportFile:
    with spool.draft(JOB, ATTEMPT) as draft:
        draft.write(content)
        return draft.keep(rows=1, size=len(content), sha256=b"")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:  # noqa: ARG001 - made before it
    before = os.umask(request.param)
    yield
    os.umask(before)


# Modes and owners


def test_directory_and_file_are_the_process_s_alone(place: Spool) -> None:
    file = built(place)

    assert (mode(place.directory), mode(file.path)) == (0o700, 0o600)
    assert file.path.name == f"{JOB}.{ATTEMPT}.part"


@pytest.mark.usefixtures("umask")
def test_the_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    place = tmp_path / "spool"
    place.mkdir()
    place.chmod(0o700)

    assert mode(built(Spool(place)).path) == 0o600


@pytest.mark.parametrize("shared", [0o701, 0o710, 0o750, 0o755, 0o777, 0o2750, 0o500])
def test_a_directory_with_another_mode_is_refused(place: Spool, shared: int) -> None:
    place.directory.mkdir()
    place.directory.chmod(shared)

    with pytest.raises(SpoolRefused, match="must have mode 0700"):
        built(place)

    assert list(place.directory.iterdir()) == []


def test_a_set_group_id_bit_that_the_parent_passed_on_is_no_sharing(tmp_path: Path) -> None:
    tmp_path.chmod(0o2700)
    place = Spool(tmp_path / "spool")

    assert mode(built(place).path) == 0o600
    assert mode(place.directory) & 0o777 == 0o700


def test_a_directory_that_becomes_shared_later_is_refused_at_the_next_use(place: Spool) -> None:
    built(place).delete()
    place.directory.chmod(0o755)

    with pytest.raises(SpoolRefused):
        built(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_somebody_else_s_directory_is_refused(place: Spool) -> None:
    place.directory.mkdir(mode=0o700)
    os.chown(place.directory, 65534, 65534)

    with pytest.raises(SpoolRefused, match="must belong to the account"):
        built(place)


def test_a_relative_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SpoolRefused, match="absolute path"):
        built(Spool((tmp_path / "spool").relative_to(tmp_path)))


def test_a_directory_that_cannot_be_made_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(SpoolRefused, match="cannot be the spool directory: No such file or directory"):
        built(Spool(tmp_path / "missing" / "spool"))


# Links


def test_a_link_to_a_private_directory_is_refused(tmp_path: Path, place: Spool) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    place.directory.symlink_to(target)

    with pytest.raises(SpoolRefused, match="it is a link or a file"):
        built(place)

    assert list(target.iterdir()) == []


def test_a_link_that_leads_nowhere_is_refused_and_nothing_is_made_there(tmp_path: Path, place: Spool) -> None:
    place.directory.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(SpoolRefused, match="it is a link or a file"):
        built(place)

    assert not (tmp_path / "elsewhere").exists()


def test_a_file_in_the_directory_s_place_is_refused(place: Spool) -> None:
    place.directory.write_text("")

    with pytest.raises(SpoolRefused, match="it is a link or a file"):
        built(place)


@pytest.mark.parametrize("leads_somewhere", [True, False])
def test_a_link_under_the_file_s_name_is_never_written_through(
    tmp_path: Path,
    place: Spool,
    leads_somewhere: bool,  # noqa: FBT001
) -> None:
    victim = tmp_path / "victim"
    if leads_somewhere:
        victim.write_text("untouched")
    place.directory.mkdir(mode=0o700)
    (place.directory / NAME).symlink_to(victim)

    with pytest.raises(FileExistsError):
        built(place)

    assert victim.exists() == leads_somewhere
    assert not leads_somewhere or victim.read_text() == "untouched"


def test_a_link_put_in_the_file_s_place_is_not_read(tmp_path: Path, place: Spool) -> None:
    file = built(place)
    (tmp_path / "other").write_text("other contacts")
    file.path.unlink()
    file.path.symlink_to(tmp_path / "other")

    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        file.open()


def test_deleting_removes_a_link_and_not_what_it_leads_to(tmp_path: Path, place: Spool) -> None:
    file = built(place)
    (tmp_path / "other").write_text("kept")
    file.path.unlink()
    file.path.symlink_to(tmp_path / "other")

    file.delete()

    assert not file.path.is_symlink()
    assert (tmp_path / "other").read_text() == "kept"


# Ends


def test_a_draft_that_is_not_kept_disappears(place: Spool) -> None:
    with place.draft(JOB, ATTEMPT) as draft:
        draft.write(b"partial")
        assert (place.directory / NAME).exists()

    assert list(place.directory.iterdir()) == []


@pytest.mark.parametrize("end", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_draft_disappears_whatever_ends_it(place: Spool, end: type[BaseException]) -> None:
    with pytest.raises(end), place.draft(JOB, ATTEMPT):
        raise end

    assert list(place.directory.iterdir()) == []


def test_a_file_shorter_than_what_was_written_is_not_kept(place: Spool) -> None:
    def build() -> None:
        with place.draft(JOB, ATTEMPT) as draft:
            draft.write(b"four")
            os.truncate(place.directory / NAME, 3)
            draft.keep(rows=1, size=4, sha256=b"")

    with pytest.raises(OSError, match="not as long as"):
        build()

    assert list(place.directory.iterdir()) == []


def test_deleting_twice_is_deleting_once(place: Spool, caplog: pytest.LogCaptureFixture) -> None:
    file = built(place)

    file.delete()
    file.delete()

    assert list(place.directory.iterdir()) == []
    assert caplog.records == []


def test_a_file_that_cannot_be_removed_is_logged_with_its_attempt_and_raises_nothing(
    place: Spool, caplog: pytest.LogCaptureFixture
) -> None:
    file = built(place)
    file.path.unlink()
    file.path.mkdir()  # a directory: unlink refuses it, for root too

    file.delete()

    [record] = caplog.records
    assert (record.levelno, record.message) == (logging.ERROR, "spool_file_not_removed")
    facts: dict[str, Any] = vars(record)
    assert (facts["job_id"], facts["attempt_id"]) == (str(JOB), str(ATTEMPT))
    assert facts["error"] in ("EISDIR", "EPERM")


def test_a_draft_that_cannot_be_removed_is_logged_and_hides_no_error(
    place: Spool, caplog: pytest.LogCaptureFixture
) -> None:
    def build() -> None:
        with place.draft(JOB, ATTEMPT):
            place.directory.chmod(0o755)
            raise RuntimeError("the first error")

    with pytest.raises(RuntimeError, match="the first error"):
        build()

    assert [record.message for record in caplog.records] == ["spool_file_not_removed"]


# Names, space


def test_a_name_says_whose_it_is() -> None:
    assert owner_of(NAME) == (JOB, ATTEMPT)


@pytest.mark.parametrize(
    "name", ["", "x.part", f"../{NAME}", f"{NAME}\n", NAME.upper() + "x", f"{JOB}.part", "." + NAME]
)
def test_other_names_are_nobody_s(name: str) -> None:
    assert owner_of(name) is None


def test_less_free_space_than_the_floor_is_refused_before_anything_is_written(place: Spool, settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, spool_floor_bytes=1)
    place.require_space()

    settings.EXPORTS = replace(settings.EXPORTS, spool_floor_bytes=2**62)
    with pytest.raises(SpoolRefused, match="bytes free"):
        place.require_space()


def test_a_full_disk_is_an_error_and_leaves_no_file(small_disk: Path) -> None:
    place = Spool(small_disk / "spool")

    with pytest.raises(OSError, match="No space left"), place.draft(JOB, ATTEMPT) as draft:
        draft.write(b"x" * 3 * 1024 * 1024)

    assert list(place.directory.iterdir()) == []


def test_the_floor_is_above_what_a_small_disk_has(small_disk: Path) -> None:
    with pytest.raises(SpoolRefused):
        Spool(small_disk / "spool").require_space()
