"""The health checks, and the schema: what is answered without a token."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import connections

if TYPE_CHECKING:
    from pathlib import Path

    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])


def test_a_process_that_answers_is_alive(browser: RoleClient) -> None:
    assert browser.get("/healthz/live").status_code == 200


def asked(browser: RoleClient) -> tuple[int, dict[str, str]]:
    """Return the status, and what was found of database and broker; the other parts were never seen here."""
    answer = browser.get("/healthz/ready")
    checks = answer.json()["checks"]
    return answer.status_code, {name: checks[name] for name in ("database", "broker")}


def test_database_and_broker_are_asked_whether_they_can_be_reached(browser: RoleClient) -> None:
    assert asked(browser) == (503, {"database": "ok", "broker": "ok"})


def test_without_its_broker_it_is_alive_and_not_ready(browser: RoleClient, settings: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{taken.getsockname()[1]}/0"

        ready, live = asked(browser), browser.get("/healthz/live")

    assert ready == (503, {"database": "ok", "broker": "unavailable"})
    assert live.status_code == 200


def test_without_its_database_it_is_alive_and_not_ready(browser: RoleClient) -> None:
    settings = connections["default"].settings_dict
    port, settings["PORT"] = settings["PORT"], "1"
    connections["default"].close()
    try:
        ready, live = asked(browser), browser.get("/healthz/live")
    finally:
        settings["PORT"] = port

    assert ready == (503, {"database": "unavailable", "broker": "ok"})
    assert live.status_code == 200


def test_the_schema_is_served_to_anybody(browser: RoleClient) -> None:
    answer = browser.get("/api/v1/schema/")

    assert answer.status_code == 200
    assert b"/api/v1/exports/{job_id}/events/" in answer.content


def test_the_schema_is_valid_openapi(tmp_path: Path) -> None:
    written = tmp_path / "schema.yaml"

    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(written))

    assert written.read_text().startswith("openapi: 3")
