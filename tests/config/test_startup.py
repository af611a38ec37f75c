"""What every process refuses to start on: contradictions in settings, and logins that are too powerful."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import startup
from config.timings import contradictions
from exports.conf import Limits

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"renew_seconds": 21.0}, "EXPORT_RENEW_SECONDS"),
        ({"stop_poll_seconds": 60.0}, "EXPORT_STOP_POLL_SECONDS"),
        ({"sweep_after_seconds": 70.0}, "EXPORT_SWEEP_AFTER_SECONDS"),
        ({"resolve_after_seconds": 1.0}, "EXPORT_RESOLVE_AFTER_SECONDS"),
        ({"max_attempts": 0}, "EXPORT_MAX_ATTEMPTS"),
        ({"spool_floor_bytes": -1}, "EXPORT_SPOOL_FLOOR_BYTES"),
        ({"step_up_seconds": 0}, "EXPORT_STEP_UP_SECONDS"),
        ({"step_up_seconds": 28_801.0}, "EXPORT_STEP_UP_SECONDS"),
        ({"idle_seconds": 28_801.0}, "EXPORT_IDLE_SECONDS"),
        ({"sign_in_failures": 0}, "EXPORT_SIGN_IN_FAILURES"),
        ({"sign_in_wait_seconds": 0}, "EXPORT_SIGN_IN_WAIT_SECONDS"),
        ({"proxy_count": -1}, "EXPORT_PROXY_COUNT"),
        ({"api_cancels_per_minute": 0}, "EXPORT_API_CANCELS_PER_MINUTE"),
    ],
)
def test_timings_that_contradict_each_other_are_named(change: dict[str, Any], words: str) -> None:
    assert contradictions(Limits()) == []
    found = contradictions(replace(Limits(), **change))
    assert len(found) == 1
    assert words in found[0]


def started(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as its own process, with this run's environment changed so."""
    changed = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.local", **environment}
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=changed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "processes"),
    [
        ("gunicorn config.wsgi", 1),
        ("gunicorn config.wsgi -w 3", 3),
        ("gunicorn config.wsgi -w3", 3),
        ("gunicorn --workers 3 config.wsgi", 3),
        ("gunicorn --workers=3 config.wsgi", 3),
        ("gunicorn config.wsgi -w", 1),
    ],
)
def test_how_many_web_processes_there_are_is_read_off_gunicorns_command_line(command: str, processes: int) -> None:
    assert startup.web_processes(command.split()) == processes


def test_several_web_processes_need_a_directory_for_their_counters(settings: Any, tmp_path: Path) -> None:
    several = replace(settings.EXPORTS, web_processes=3)

    def told() -> str:
        return " ".join(startup._settings_problems("web"))

    settings.EXPORTS = several
    assert "3 web processes would each show a part of the counters" in told()
    settings.EXPORTS = replace(several, metrics_directory=tmp_path / "none")
    assert "PROMETHEUS_MULTIPROC_DIR is not a directory" in told()
    settings.EXPORTS = replace(several, metrics_directory=tmp_path)
    assert "PROMETHEUS_MULTIPROC_DIR" not in told()


def test_a_contradiction_is_refused_when_the_settings_are_read() -> None:
    done = started("check", EXPORT_RENEW_SECONDS="59")
    assert done.returncode != 0
    assert "EXPORT_RENEW_SECONDS must be at most a third" in done.stderr


def test_every_malformed_value_is_named_at_once() -> None:
    done = started("check", EXPORT_LEASE_SECONDS="soon", EXPORT_MAX_ATTEMPTS="many")
    assert done.returncode != 0
    assert "EXPORT_LEASE_SECONDS" in done.stderr
    assert "EXPORT_MAX_ATTEMPTS" in done.stderr


@pytest.mark.parametrize("command", ["sweep", "recover", "dispatch_outbox", "audit_exports"])
def test_no_process_runs_as_the_schemas_owner(command: str) -> None:
    done = started(command, "--once", DATABASE_URL=os.environ["MIGRATION_DATABASE_URL"])
    assert done.returncode == 1
    assert "must log in as exports_" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_process_runs_as_a_superuser() -> None:
    done = started("sweep", "--once", DATABASE_URL=os.environ["ADMIN_DATABASE_URL"])
    assert done.returncode == 1
    assert "must log in as exports_worker" in done.stderr


def test_debug_with_a_public_host_is_refused(settings: Any) -> None:
    settings.DEBUG = True
    settings.ALLOWED_HOSTS = ["exports.example.org"]
    with pytest.raises(ImproperlyConfigured, match="DEBUG may only be on"):
        startup.check("beat")


@pytest.mark.django_db
def test_a_worker_without_a_private_directory_is_refused(settings: Any) -> None:
    settings.EXPORT_ROLE = "worker"
    settings.EXPORTS = replace(settings.EXPORTS, spool_dir=Path())
    with pytest.raises(ImproperlyConfigured, match="EXPORT_SPOOL_DIR"):
        startup.check("worker")


def test_production_asks_for_a_second_factor_and_the_demo_does_not() -> None:
    asked = ("shell", "-c", "from exports.conf import limits; print('asked for:', limits().second_factor)")
    assert "asked for: True" in started(*asked, DJANGO_SETTINGS_MODULE="config.settings.base").stdout
    assert "asked for: False" in started(*asked).stdout
    assert "asked for: True" in started(*asked, EXPORT_SECOND_FACTOR="true").stdout


@pytest.mark.django_db
def test_a_console_that_others_reach_is_refused_without_a_second_factor(settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, second_factor=False)
    settings.ALLOWED_HOSTS = ["exports.example.org"]
    with pytest.raises(ImproperlyConfigured, match="EXPORT_SECOND_FACTOR may only be off"):
        startup.check("web")
    settings.ALLOWED_HOSTS = ["localhost"]
    assert not [problem for problem in startup._settings_problems("web") if "SECOND_FACTOR" in problem]
