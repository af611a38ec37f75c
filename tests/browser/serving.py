"""The web process in a thread, under its own database role, for a real browser to talk to."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler

from tests.routing import role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class AsWebProcess:
    """Serves every request of a thread under the role of the web process."""

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        with role("api"):
            return self.get_response(request)


class Quietly(WSGIRequestHandler):
    """Writes no line for each request."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    """Serve on a free port of loopback; the address ends without a slash."""
    server = ThreadedWSGIServer(("127.0.0.1", 0), Quietly)
    server.set_app(WSGIHandler())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def address(web_process: None, transactional_db: None, settings: Any) -> Iterator[str]:  # noqa: ARG001 - order
    """Serve the console and the API; stopped before the tables are emptied."""
    settings.MIDDLEWARE = ["tests.browser.serving.AsWebProcess", *settings.MIDDLEWARE]
    with serving() as found:
        yield found
