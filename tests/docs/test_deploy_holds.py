"""What is deployed is what the project has: commands, variables, queues, metrics and alerts name nothing else."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from django.core.management import get_commands

from config.celery import app
from config.env import URL_VARIABLE
from exports.conf import Limits
from exports.observability import counters
from exports.observability.gauges import _OPEN
from exports.states import HoldCause
from reconciliation.takeover import Came
from tests.docs.pages import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yml").read_text())
RULES = [rule for group in yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
GAUGES = {"database_up", "jobs", "oldest_seconds", "expired_leases", "outbox_waiting", "outbox_lag_seconds", "holds"}
GAUGES |= {"seen_seconds", "processes"}
READ = set(URL_VARIABLE.values()) | set(re.findall(r'env\.\w+\("([A-Z_]+)"', (PROJECT / "config/env.py").read_text()))
OURS = {
    name: told
    for name, told in COMPOSE["services"].items()
    if "image" not in told or told["image"] == "contact-exports"
}


def commands() -> list[list[str]]:
    units = [re.findall(r"^ExecStart=\S+/bin/(.+)$", unit.read_text(), re.MULTILINE)[0] for unit in UNITS]
    return [*(told["command"] for told in OURS.values() if "command" in told), *map(shlex.split, units)]


def test_each_queue_that_beat_or_a_dispatcher_sends_to_has_a_worker_in_both_deployments() -> None:
    # The dispatcher's, and the collector's own.
    sent = {entry["options"]["queue"] for entry in app.conf.beat_schedule.values()} | {"exports", "acknowledgments"}
    for where in ([told["command"] for told in OURS.values() if "command" in told], commands()[-len(UNITS) :]):
        taken = {queue for command in where if "-Q" in command for queue in command[command.index("-Q") + 1].split(",")}

        assert taken == sent


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command[:6]))
def test_each_command_is_one_of_the_project(command: list[str]) -> None:
    program, *rest = command
    match program:
        case "python":
            assert rest[0] == "manage.py"
            assert rest[1] in get_commands()
        case "celery":
            assert rest[:2] == ["-A", "config"]
            assert rest[2] in {"worker", "beat"}
        case _:
            assert (program, rest[0]) == ("gunicorn", "config.wsgi")


def test_each_variable_of_a_deployment_is_one_that_is_read_and_its_secret_is_mounted() -> None:
    for name, told in OURS.items():
        for variable, value in told.get("environment", {}).items():
            assert variable.removesuffix("_FILE") in READ, (name, variable)
            if variable.endswith("_FILE"):
                secret = str(value).removeprefix("/run/secrets/")
                assert secret in told["secrets"], (name, variable)
                assert secret in COMPOSE["secrets"]


def test_no_process_is_given_a_login_that_is_not_its_own() -> None:
    for name, told in OURS.items():
        role = told.get("environment", {}).get("EXPORT_ROLE")
        logins = {each.removesuffix("_FILE") for each in told.get("environment", {}) if "DATABASE_URL" in each}
        if role is not None:
            assert logins <= {URL_VARIABLE[role], *({"RECONCILIATION_DATABASE_URL"} if role == "api" else ())}, name


def test_every_process_runs_without_root_and_on_a_file_system_it_cannot_change() -> None:
    assert "\nUSER exports\n" in (DEPLOY / "Dockerfile").read_text()
    assert [name for name, told in OURS.items() if not (told["read_only"] and told["cap_drop"] == ["ALL"])] == []
    for unit in UNITS:
        assert "User=exports\n" in unit.read_text()
        assert "ProtectSystem=strict\n" in unit.read_text()


@pytest.mark.parametrize("unit", UNITS, ids=[unit.stem for unit in UNITS])
def test_each_unit_is_one_that_systemd_would_start(unit: Path, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        if os.environ.get("REQUIRE_SERVERS") == "1":
            pytest.fail("REQUIRE_SERVERS=1, but systemd-analyze is not installed here")
        pytest.skip("systemd-analyze is not installed here")
    copy = tmp_path / unit.name
    # Only the programs are not where a deployment has them.
    copy.write_text(re.sub(r"/opt/contact-exports/\.venv/bin/\w+", "/bin/true", unit.read_text()))
    done = subprocess.run([program, "verify", copy], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, [line for line in done.stderr.splitlines() if unit.name in line]) == (0, [])


def test_a_worker_is_given_longer_to_stop_than_its_work_may_go_on() -> None:
    stops = [int(told["stop_grace_period"][:-1]) for told in OURS.values() if "stop_grace_period" in told]
    stops += [int(re.findall(r"TimeoutStopSec=(\d+)", unit.read_text())[0]) for unit in UNITS]

    assert min(stops) > Limits().drain_seconds


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_each_alert_asks_for_metrics_that_exist_and_has_its_section_in_the_runbook(rule: dict[str, Any]) -> None:
    known = {f"exports_{name}" for name in GAUGES}
    known |= {sample.name for family in counters.REGISTRY.collect() for sample in family.samples}
    known |= {f"{family.name}_total" for family in counters.REGISTRY.collect()}
    labels = set(re.findall(r'(?:status|cause)="(\w+)"', rule["expr"]))

    assert set(re.findall(r"exports_\w+", rule["expr"])) <= known
    assert labels <= {*_OPEN, *HoldCause}
    cases = {case for told in re.findall(r'case=~?"([\w|]+)"', rule["expr"]) for case in told.split("|")}
    assert cases <= set(Came)
    assert f"\n## {rule['alert']}\n" in (PROJECT / "docs/runbook.md").read_text()
    assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"


def test_the_runbook_has_no_section_without_an_alert() -> None:
    sections = re.findall(r"^## (\w+)$", (PROJECT / "docs/runbook.md").read_text(), re.MULTILINE)

    assert sections == [rule["alert"] for rule in RULES]
