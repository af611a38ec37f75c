"""Tests: `default` is the owner, one alias more for each role, all on one test database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from config.env import database_options
from config.settings.local import *  # noqa: F403 - settings are inherited as a whole
from config.settings.local import EXPORTS, ROLE_DATABASE_URLS

SECRET_KEY = "only for tests, never for a server"  # noqa: S105 - no server runs with these settings
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Clients of all tests share their ids, and so their counts; the tests of throttling set their own.
EXPORTS = replace(
    EXPORTS, api_reads_per_minute=1_000_000, api_writes_per_minute=1_000_000, api_cancels_per_minute=1_000_000
)


def _alias(url: str) -> dict[str, Any]:
    return {**database_options(url), "TEST": {"MIRROR": "default"}}


DATABASES = {
    "default": {**database_options(ROLE_DATABASE_URLS["owner"])},
    "api": _alias(ROLE_DATABASE_URLS["api"]),
    "worker": _alias(ROLE_DATABASE_URLS["worker"]),
    "dispatcher": _alias(ROLE_DATABASE_URLS["dispatcher"]),
    "acknowledger": _alias(ROLE_DATABASE_URLS["acknowledger"]),
    "auditor": _alias(ROLE_DATABASE_URLS["auditor"]),
    "reconciliation": _alias(ROLE_DATABASE_URLS["reconciler"]),
}
