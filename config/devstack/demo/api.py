"""A client system of the demo: the REST API as anybody outside would use it."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib import error, request

from config.devstack.errors import DevstackError

_ANSWER_SECONDS = 30  # far above any answer on loopback; below what a person would wait for
# The demo talks to its own server; a proxy of the user's environment would not reach it.
_opener = request.build_opener(request.ProxyHandler({}))


class Refused(DevstackError):  # noqa: N818 - an answer, not a fault
    """The API answered, and not with what was asked for."""


@dataclass(frozen=True)
class Api:
    """The API at `address` for the holder of `token`."""

    address: str
    token: str = field(repr=False)

    def create(self, destination_id: str) -> dict[str, Any]:
        """Ask for an export to a destination; return its row."""
        return self._call("POST", f"{self.address}/api/v1/exports/", {"destination_id": destination_id})

    def cancel(self, export_id: str) -> dict[str, Any]:
        """Click on cancel, once; return what was recorded."""
        url = f"{self.address}/api/v1/exports/{export_id}/cancellation-requests/"
        return self._call("POST", url, {"request_id": str(uuid.uuid4()), "reason": "shown in the demo"})

    def read(self, export_id: str) -> dict[str, Any]:
        """Return an export's row as it is now."""
        return self._call("GET", f"{self.address}/api/v1/exports/{export_id}/")

    def all_to(self, destination_id: str) -> list[dict[str, Any]]:
        """Return the rows of all exports to a destination, newest first, page by page."""
        rows: list[dict[str, Any]] = []
        following: str | None = f"{self.address}/api/v1/exports/?destination={destination_id}&page_size=200"
        while following:
            page = self._call("GET", following)
            rows += page["results"]
            following = page["next"]
        return rows

    def _call(self, method: str, url: str, body: dict[str, str] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        asked = request.Request(url, data, headers, method=method)  # noqa: S310 - http on loopback
        try:
            with _opener.open(asked, timeout=_ANSWER_SECONDS) as answer:
                return dict(json.load(answer))
        except error.HTTPError as refusal:
            with refusal:
                words = refusal.read(500).decode(errors="replace")
            raise Refused(f"{method} {url} was answered {refusal.code}: {words}") from refusal


def answers(url: str) -> bool:
    """Whether something answers 200 there."""
    try:
        with _opener.open(url, timeout=_ANSWER_SECONDS) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except OSError:
        return False
