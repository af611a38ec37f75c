"""The project's own processes, started as the documentation starts them, and a client of their API."""

from __future__ import annotations

import http.client
import json
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from config.devstack import ports, waiting
from config.devstack.demo.api import answers
from config.devstack.errors import DevstackError
from exports.actions.create_client import ClientVerb, Registered, create_client

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from config.devstack.child import Child
    from tests.bench.bench import Bench
    from tests.bench.places import Place

START_SECONDS = 90
SLOTS = 4
"""Of one worker process, as the documented deployment has them."""

UNTHROTTLED = {f"EXPORT_API_{kind}S_PER_MINUTE": "1000000" for kind in ("READ", "WRITE", "CANCEL")}
"""What one client may ask for in a minute is a setting; here one client is all of them."""


@contextmanager
def workers(
    bench: Bench, processes: int = 2, slots: int = SLOTS, told: Mapping[str, str] | None = None
) -> Iterator[list[Child]]:
    """Run so many worker processes, ready when the block begins."""
    with ExitStack() as stack:
        started = []
        for number in range(processes):
            command = ["-m", "celery", "-A", "config", "--quiet", "worker", "-n", f"bench{number}@%h"]
            command += ["-Q", "exports", "-c", str(slots), "--without-gossip", "--without-mingle", "--loglevel", "INFO"]
            started.append(stack.enter_context(bench.process("worker", command, "worker", told)))
        for child in started:
            _wait(lambda child=child: "ready." in child.said())
        yield started


@contextmanager
def dispatcher(bench: Bench, **told: str) -> Iterator[Child]:
    """Run the dispatcher."""
    with bench.process("dispatcher", ["manage.py", "dispatch_outbox"], "dispatcher", told) as child:
        yield child


@contextmanager
def web(bench: Bench, place: Place, threads: int = 8) -> Iterator[Api]:
    """Run the web process; yield a client system that may create and cancel for this tenant."""
    listener = ports.listen_on_first_free([ports.unused()])
    assert listener is not None
    with listener:
        command = ["-m", "gunicorn", "config.wsgi", "--bind", f"fd://{listener.fileno()}", "--worker-class", "gthread"]
        command += ["--threads", str(threads), "--no-control-socket"]
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with bench.process("web", command, "api", UNTHROTTLED, (listener.fileno(),)):
            _wait(lambda: answers(f"{address}/healthz/live"))
            yield Api(address, _token(place))


def _wait(condition: Any) -> None:
    if not waiting.until(condition, seconds=START_SECONDS):
        raise DevstackError(f"a process was not ready within {START_SECONDS} s; its log says why")


def _token(place: Place) -> str:
    verbs = (ClientVerb.CREATE, ClientVerb.CANCEL, ClientVerb.VIEW)
    registered = create_client(f"bench-{uuid.uuid4().hex[:8]}", [place.tenant], verbs, timedelta(days=1))
    assert isinstance(registered, Registered)
    return registered.token


@dataclass(frozen=True, slots=True)
class Api:
    """The REST API, over a connection of the caller's own thread."""

    address: str
    token: str

    def connection(self) -> http.client.HTTPConnection:
        """Open a connection that is kept for many requests."""
        parts = urlsplit(self.address)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def create(self, line: http.client.HTTPConnection, destination_id: uuid.UUID) -> str:
        """Ask for an export; return its id."""
        return str(self._post(line, "/api/v1/exports/", {"destination_id": str(destination_id)})["id"])

    def cancel(self, line: http.client.HTTPConnection, job_id: str) -> str:
        """Click on cancel once; return the outcome."""
        path = f"/api/v1/exports/{job_id}/cancellation-requests/"
        return str(self._post(line, path, {"request_id": str(uuid.uuid4())})["outcome"])

    def _post(self, line: http.client.HTTPConnection, path: str, body: dict[str, str]) -> dict[str, Any]:
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        line.request("POST", path, json.dumps(body), headers)
        answer = line.getresponse()
        said = answer.read()
        if answer.status >= http.client.BAD_REQUEST:
            raise DevstackError(f"POST {path} was answered {answer.status}: {said[:500]!r}")
        return dict(json.loads(said))
