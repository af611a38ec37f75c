"""Only what is ours is stopped, and nothing runs before it is noted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from config.devstack import children as module
from config.devstack import environment, identity, waiting
from config.devstack.child import PROCESS, Ending, Program
from config.devstack.children import Children

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def _note(directory: Path, pid: int, started: str) -> None:
    note = {"pid": pid, "started": started, "ending": [[int(signal.SIGTERM)], 10, 0]}
    (directory / "broker.json").write_text(json.dumps(note))


def test_a_process_that_only_has_the_number_of_ours_is_left_alone(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    _note(tmp_path, stranger.pid, "started at another time")
    Children(tmp_path).stop_leftovers()
    assert stranger.poll() is None
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_ours_is_stopped(tmp_path: Path, stranger: subprocess.Popen[bytes]) -> None:
    _note(tmp_path, stranger.pid, identity.started(stranger.pid) or "")
    Children(tmp_path).stop_leftovers()
    assert stranger.wait(timeout=10) == -signal.SIGTERM


def test_the_start_time_is_the_same_each_time_and_gone_with_the_process(
    stranger: subprocess.Popen[bytes],
) -> None:
    first = identity.started(stranger.pid)
    assert first is not None
    assert identity.started(stranger.pid) == first
    stranger.kill()
    assert waiting.until(lambda: identity.started(stranger.pid) is None, seconds=10)


def test_ps_tells_the_same_as_proc_does(stranger: subprocess.Popen[bytes]) -> None:
    first = identity._started_by_ps(stranger.pid)
    assert first
    assert identity._started_by_ps(stranger.pid) == first
    stranger.kill()
    assert waiting.until(lambda: identity._started_by_ps(stranger.pid) is None, seconds=10)


def test_nothing_runs_whose_note_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(_file: Path, _text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_private", full_disk)
    mark, children = tmp_path / "it ran", Children(tmp_path)
    with pytest.raises(OSError, match="No space left"):
        children.start(Program("mark", ["/bin/sh", "-c", f"touch '{mark}'"], tmp_path / "log"))
    children.stop_all()
    assert not mark.exists()


def test_a_child_whose_parent_dies_before_the_note_never_runs(tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    program = ["/bin/sh", "-c", f"touch '{mark}'"]
    gate = subprocess.Popen([*module._GATE, *program], stdin=subprocess.PIPE, start_new_session=True)
    gate.communicate(timeout=10)
    assert gate.returncode != 0
    assert not mark.exists()


def test_processes_end_before_the_servers_they_lean_on(tmp_path: Path) -> None:
    code = "import signal,sys,time\nsignal.signal(15, lambda *_: sys.exit(print(time.monotonic())))\n"
    code += "print('up', flush=True)\nwhile True: signal.pause()"
    children = Children(tmp_path)
    started = [
        children.start(Program(name, [sys.executable, "-c", code], tmp_path / f"{name}.log", ending=Ending(tier=tier)))
        for name, tier in (("worker", PROCESS), ("server", 0))
    ]
    assert waiting.until(lambda: all("up" in child.said() for child in started), seconds=30)
    children.stop_all()
    worker, server = (float(child.said().split()[1]) for child in started)
    assert worker < server


def test_the_environment_file_survives_a_shell_and_is_closed_to_others(tmp_path: Path) -> None:
    values = {"PLAIN": "a", "HARD": 'it\'s $HOME `x` "y" \\ \nline;', "EMPTY": ""}
    environment.write(tmp_path / "env", values)
    assert (tmp_path / "env").stat().st_mode & 0o777 == 0o600
    script = '. "$1"; printf "%s\\0" "$PLAIN" "$HARD" "$EMPTY"'
    shell = subprocess.run(
        ["/bin/sh", "-euc", script, "sh", str(tmp_path / "env")], capture_output=True, text=True, check=True
    )
    assert shell.stdout.split("\0") == [*values.values(), ""]
