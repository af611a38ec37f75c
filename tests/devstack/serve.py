"""A run of the three servers alone, for tests to signal and kill: `python -m tests.devstack.serve DIR`."""

from __future__ import annotations

import sys
from pathlib import Path

from config.devstack.errors import DevstackError
from config.devstack.run import guarded, watch
from config.devstack.stack import Stack
from config.devstack.waiting import StopSignals


def _serve(signals: StopSignals) -> None:
    with Stack(Path(sys.argv[1]), check=signals.check) as stack:
        stack.partner.add_account("partner")
        print("ready", flush=True)  # noqa: T201 - the test reads it
        watch(stack, signals)


def main() -> None:
    """Say `ready` when all three answer; one sentence and exit code 1 if they cannot."""
    signals = StopSignals()
    signals.install()
    try:
        guarded(lambda: _serve(signals))
    except DevstackError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
