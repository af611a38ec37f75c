"""Builds for tests: as the worker's role, in this thread or in one that can be watched and stopped."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg

from exports.conf import limits
from exports.contracts import Payload
from exports.worker.builder import ExportFile, build
from exports.worker.stop import StopSignal, StopWhy

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import Tenant


def a_build(tenant: Tenant, payload: Payload | None = None, **changes: Any) -> ExportFile:
    """Build as the worker's role; what a test does not say does not matter to it."""
    values: dict[str, Any] = {
        "job_id": uuid.uuid4(),
        "attempt_id": uuid.uuid4(),
        "tenant_id": tenant.id,
        "payload": payload or Payload(),
        "stop": StopSignal(),
        "using": "worker",
    }
    return build(**(values | changes))


def content(file: ExportFile) -> bytes:
    with file.open() as opened:
        return opened.read()


def text_of(tenant: Tenant, **terms: Any) -> str:
    return content(a_build(tenant, Payload(**terms))).decode()


def use_source(settings: Any, name: str) -> None:
    settings.EXPORTS = replace(limits(), source=f"tests.worker.sources.{name}")


def everything_said(error: BaseException) -> str:
    """Return what a log of this error with its causes could show."""
    said = ""
    current: BaseException | None = error
    while current is not None:
        said += repr(current) + str(current)
        current = current.__cause__ or current.__context__
    return said


class Running:
    """A build in a thread of its own, and what became of it."""

    def __init__(self, tenant: Tenant, progress: Callable[[int, int], None] | None = None) -> None:
        self.attempt_id = uuid.uuid4()
        self.stop = StopSignal()
        self.streaming = threading.Event()
        self._result: ExportFile | BaseException | None = None
        self._arguments: dict[str, Any] = {
            "attempt_id": self.attempt_id,
            "stop": self.stop,
            "progress": progress or self._seen,
        }
        self._thread = threading.Thread(target=self._run, args=(tenant,))
        self._thread.start()

    def _seen(self, _rows: int, _size: int) -> None:
        self.streaming.set()

    def _run(self, tenant: Tenant) -> None:
        try:
            self._result = a_build(tenant, **self._arguments)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test looks at it
            self._result = error

    def wait_until_streaming(self) -> None:
        assert self.streaming.wait(20)

    def end(self) -> ExportFile | BaseException | None:
        self._thread.join(20)
        assert not self._thread.is_alive()
        return self._result

    def seconds_to_stop(self) -> float:
        began = time.monotonic()
        self.stop.set(StopWhy.STOP_REQUESTED)
        self.end()
        return time.monotonic() - began

    def server_process(self, connection: psycopg.Connection[Any]) -> int:
        """Return the build's process on the server, found by the name it gave itself."""
        name = f"contact-exports build {self.attempt_id}"
        ask = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
        pid: int = until(lambda: connection.execute(ask, [name]).fetchone())[0]
        return pid


def until(look: Callable[[], Any], seconds: float = 20) -> Any:
    """Return what `look` finds as soon as it finds something."""
    give_up_at = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < give_up_at, "nothing came of it"
        time.sleep(0.005)
    return found


def wait_until_blocked(running: Running, holder: psycopg.Connection[Any], admin_url: str) -> None:
    """Return once the build's session waits for the holder's."""
    with psycopg.connect(admin_url, autocommit=True) as admin:
        pid = running.server_process(admin)
        ask = "SELECT %s = ANY (pg_blocking_pids(%s))"
        until(lambda: admin.execute(ask, [holder.info.backend_pid, pid]).fetchone() == (True,))
