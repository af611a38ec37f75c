"""Paths that lead nowhere; no question is put to the database for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.routing import RoleClient


@pytest.mark.parametrize("path", ["nonsense/", "exports", "exports//", "exports/x", "exports/x/y/z/"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_any_other_path_is_answered_in_json(browser: RoleClient, path: str, method: str) -> None:
    answer = browser.generic(method, f"/api/v1/{path}")

    assert (answer.status_code, answer.json()["code"]) == (404, "NotFound")
