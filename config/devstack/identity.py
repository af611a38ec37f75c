"""Tell a process from a later one that was given the same number.

A process number alone is not enough to signal something: numbers are used again. The pair of number and
start time is, and both survive exec.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
# In /proc/PID/stat the fields after the command's closing bracket begin with the third one, the state.
_STATE, _START_TICKS = 0, 19


def started(pid: int) -> str | None:
    """Return a token of when the process `pid` started; None if no such process runs (a zombie does not)."""
    return _started_by_proc(pid) if _has_proc() else _started_by_ps(pid)


def command(pid: int) -> str:
    """Return the name of the program that `pid` runs, as `ps` shows it; empty if there is none."""
    if not _has_proc():
        return _ps(pid, "comm=")
    try:
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return ""


@cache
def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


@cache
def _boot() -> str:
    """Name this boot of the machine: ticks since boot mean nothing after another one."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def _started_by_proc(pid: int) -> str | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[_STATE] in "ZX" else f"{_boot()}:{fields[_START_TICKS]}"


def _started_by_ps(pid: int) -> str | None:
    state, _, start = _ps(pid, "stat=", "lstart=").partition(" ")
    return None if not start or state.startswith("Z") else " ".join(start.split())


def _ps(pid: int, *columns: str) -> str:
    wanted = [word for column in columns for word in ("-o", column)]
    answer = subprocess.run(
        ["/bin/ps", *wanted, "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C"},
        timeout=10,  # ps answers in milliseconds; a machine that cannot do this in 10 s cannot run servers
    )
    return answer.stdout.strip()
