"""What the figures were taken on, in neutral words, and how busy it was."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

SYNCS = 50


def describe() -> dict[str, Any]:
    """Return cores, memory, Python, kernel and what a synced write costs here."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "fsync_ms": round(fsync_seconds() * 1000, 2),
    }


def load() -> float:
    """Return how many processes wanted a core over the last minute: above the cores, figures suffer."""
    return round(os.getloadavg()[0], 2)


def fsync_seconds() -> float:
    """Return what one small write takes until it is on the disk, where temporary files are."""
    with tempfile.NamedTemporaryFile() as file:
        began = time.monotonic()
        for _ in range(SYNCS):
            file.write(b"x" * 8192)
            file.flush()
            os.fdatasync(file.fileno())
        return (time.monotonic() - began) / SYNCS


def peak_mib(pid: int) -> float:
    """Return the peak resident memory of a process that still runs (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024
