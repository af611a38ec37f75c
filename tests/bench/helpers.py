"""Measuring processes of our own: told a line, they answer a line."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from config.devstack.partner import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench


@dataclass(frozen=True, slots=True)
class Helper:
    """One such process."""

    process: subprocess.Popen[str]

    def tell(self, words: str) -> None:
        """Send it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """Return its next line; its end, by a failure of its own, is an error."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a measuring process ended with {self.process.wait()}")
        return line.strip()


@contextmanager
def helper(bench: Bench, module: str, *arguments: str, role: str = "worker", **told: str) -> Iterator[Helper]:
    """Run `python -m module` until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=PROJECT,
        env={"PATH": os.defpath, **bench.variables(role, **told)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield Helper(process)
    finally:
        process.kill()
        process.communicate()
