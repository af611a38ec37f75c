"""`python -m tests.bench [PART …]`: every figure a ratio taken in the same run, its target beside it."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from config.devstack.errors import DevstackError
from config.devstack.run import prepare
from config.devstack.stack import Stack
from config.devstack.waiting import StopSignals
from tests.bench import machine, parts, report
from tests.bench.bench import DURABLE, Bench, Sizes, set_up_django
from tests.bench.figures import Skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""As a shell calls the end by Ctrl-C."""


def main(arguments: Sequence[str]) -> int:
    """Measure; 0 when every part ran or had a reason not to, whatever its figures say."""
    told = _parser().parse_args(arguments)
    signals = StopSignals()
    signals.install()
    try:
        with Stack(told.directory, postgres_options=DURABLE, check=signals.check, report=_say) as stack:
            prepared = prepare(stack, _say)
            # From here on an interruption may fall anywhere: what runs is ended by the blocks it was started in.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            bench = Bench(stack, prepared, Sizes(finished_jobs=told.jobs), _say)
            set_up_django(bench.values)
            logging.disable(logging.ERROR)  # a line for each of a million rows would be measured too
            outcomes = [_measure(name, bench) for name in told.parts or parts.NAMES]
    except DevstackError as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    _publish(outcomes, told.results)
    return int(any(outcome.failed for outcome in outcomes))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts.NAMES, []], metavar="PART", help=", ".join(parts.NAMES))
    parser.add_argument("--directory", type=Path, default=Path("bench-data"), help="servers and data sets, kept")
    parser.add_argument("--results", type=Path, default=Path("bench-results"), help="where the JSON file goes")
    parser.add_argument("--jobs", type=int, default=Sizes().finished_jobs, help="finished jobs in the large data set")
    return parser


def _measure(name: str, bench: Bench) -> report.Outcome:
    _say(f"measuring {name}")
    outcome = report.Outcome(name, load_before=machine.load())
    began = time.monotonic()
    try:
        bench.empty()
        outcome.figures = list(import_module(f"tests.bench.parts.{name}").run(bench))
    except Skipped as reason:
        outcome.skipped = str(reason)
    except Exception as error:  # noqa: BLE001 - the other parts' figures are worth having
        traceback.print_exc()
        outcome.failed = f"{type(error).__name__}: {error}"
    outcome.seconds, outcome.load_after = time.monotonic() - began, machine.load()
    _say(report.table([outcome]))
    return outcome


def _publish(outcomes: list[report.Outcome], directory: Path) -> None:
    described = machine.describe()
    file = directory / f"bench-{time.strftime('%Y%m%d-%H%M%S')}.json"
    report.write(file, described, outcomes)
    _say(f"\n{described}\n\n{report.table(outcomes)}\n\n{file}")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command speaks


sys.exit(main(sys.argv[1:]))
