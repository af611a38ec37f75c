"""`manage.py demo`: from an empty directory to a table of what happened."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from config.devstack.demo import plan, processes
from config.devstack.demo.api import Api
from config.devstack.demo.outcome import Outcome, run_sample
from config.devstack.demo.samples import SAMPLES, Scene
from config.devstack.demo.table import table
from config.devstack.provision import run_command
from config.devstack.run import guarded, prepare, refuse_ended, watch
from config.devstack.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from config.devstack.waiting import StopSignals

    Report = Callable[[str], None]


def run(directory: Path, report: Report, signals: StopSignals, *, once: bool) -> bool | None:
    """Show everything in `directory`; return whether each sample came out as intended.

    With `once` it ends after the table, else it serves until a signal. None: a signal ended it before the table.
    """
    outcomes: list[Outcome] = []

    def work() -> None:
        with Stack(directory, check=signals.check, report=report) as stack:
            outcomes.extend(_show(stack, report))
            if not once:
                report("\nServing until Ctrl-C.")
                watch(stack, signals)

    guarded(work)
    return all(outcome.as_intended for outcome in outcomes) if outcomes else None


def _show(stack: Stack, report: Report) -> list[Outcome]:
    values = prepare(stack, report)
    report("creating two tenants, their contacts, destinations and people")
    seeded = _seed(stack, values)
    run_command(stack.home, values, "collectstatic", "--no-input")
    address = processes.start(stack.home, values, report)
    outcomes = _run_samples(stack, seeded, address, report)
    # A violation fails the demo: what it shows would not be worth showing.
    audit = run_command(stack.home, values, "audit_exports")
    report(_summary(stack, address, outcomes) + f"\n\nAudit of the promises over this database: {audit.strip()}")
    return outcomes


def _seed(stack: Stack, values: Mapping[str, str]) -> dict[str, Any]:
    asked, answered = plan.hand_over(stack.home.directory, plan.make_plan(stack))
    run_command(stack.home, values, "seed_demo", str(asked), str(answered))
    return dict(json.loads(answered.read_text()))


def _run_samples(stack: Stack, seeded: dict[str, Any], address: str, report: Report) -> list[Outcome]:
    apis = {client: Api(address, token) for client, token in seeded["tokens"].items()}
    scene = Scene(apis, seeded["destinations"], stack.home.directory / "partner")
    outcomes = []
    for sample in SAMPLES:
        report(f"running an export: {sample.name}")
        outcomes.append(run_sample(sample, scene, lambda: _check(stack)))
    return outcomes


def _check(stack: Stack) -> None:
    """End a wait on a signal, or when a process that the export needs has ended."""
    stack.home.check()
    refuse_ended(stack)


def _summary(stack: Stack, address: str, outcomes: list[Outcome]) -> str:
    people = [[name, plan.password_of(stack, name), group] for name, group in plan.PEOPLE.items()]
    people.append([plan.SUPERUSER, plan.password_of(stack, plan.SUPERUSER), "superuser"])
    return "\n".join(
        [
            f"\nConsole   {address}/admin/",
            f"Partner   {stack.home.directory / 'partner'}\n",
            table(("user", "password", "group"), people),
            "",
            table(("export of", "status", "at the partner", "seconds", ""), [_row(each) for each in outcomes]),
        ]
    )


def _row(outcome: Outcome) -> list[str]:
    verdict = "as intended" if outcome.as_intended else "NOT AS INTENDED"
    return [outcome.sample.name, outcome.status, outcome.seen, f"{outcome.seconds:.1f}", verdict]
