"""Build one attempt's file: a COPY streamed to a private local file, hashed on the way (reference: The Worker).

Reversible to the last byte: whatever ends the build, nothing has left the process and no partial file stays.
A stop comes out as BuildStopped; everything else that the world can break as ExportBuildException.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Final

from exports.errors import BuildStopped, ExportBuildException
from exports.worker.build_connection import build_connection
from exports.worker.build_encoding import Encoder
from exports.worker.build_failures import without_words, words_for
from exports.worker.build_query import build_query
from exports.worker.build_stream import blocks_of
from exports.worker.source import configured_source
from exports.worker.spool import Draft, ExportFile, Spool

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from exports.contracts import Payload
    from exports.worker.build_connection import BuildConnection
    from exports.worker.build_query import BuildQuery
    from exports.worker.stop import StopSignal

    Progress = Callable[[int, int], None]

__all__ = ["ExportFile", "build"]

PROGRESS_SECONDS: Final = 1.0
"""A person watching wants to see it move; more often would cost writes that nobody reads."""


def no_progress(rows: int, size: int) -> None:
    """Report to nobody."""
    del rows, size


def build(
    *,
    job_id: UUID,
    attempt_id: UUID,
    tenant_id: UUID,
    payload: Payload,
    stop: StopSignal,
    progress: Progress = no_progress,
    using: str = "default",
) -> ExportFile:
    """Return the finished file of this attempt, of which the caller becomes the owner.

    `progress` is told rows and bytes so far, about once a second, in this thread. BuildStopped follows `stop`
    within 100 ms, also while the query waits for a lock; ExportBuildException says in words without contact
    data what failed.
    """
    try:
        return Build(payload, stop, progress).run(job_id, attempt_id, tenant_id, using)
    except BuildStopped:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not look like a stop, nor quote a contact
        if stop.is_set:
            raise BuildStopped from without_words(error)
        raise ExportBuildException(words_for(error)) from without_words(error)


class Build:
    """One build in progress: what was received, hashed and written so far."""

    def __init__(self, payload: Payload, stop: StopSignal, progress: Progress) -> None:
        self._payload = payload
        self._stop = stop
        self._progress = progress
        self._encoder = Encoder(payload.encoding, header=payload.header)
        self._digest = hashlib.sha256()
        self._size = 0
        self._report_at = time.monotonic() + PROGRESS_SECONDS

    def run(self, job_id: UUID, attempt_id: UUID, tenant_id: UUID, using: str) -> ExportFile:
        """Build the file; any failure passes through after the partial file is gone."""
        self._obey_stop()
        query = build_query(configured_source(), tenant_id, self._payload)
        spool = Spool.configured()
        spool.require_space()
        with spool.draft(job_id, attempt_id) as draft:
            with build_connection(using, attempt_id, self._stop) as connection:
                self._copy(connection, query, draft)
            self._obey_stop()
            return draft.keep(rows=self._encoder.rows, size=self._size, sha256=self._digest.digest())

    def _copy(self, connection: BuildConnection, query: BuildQuery, draft: Draft) -> None:
        self._write(self._encoder.mark, draft)
        for block in blocks_of(connection, query, self._payload.line_end):
            self._obey_stop()
            self._write(self._encoder.encode(block), draft)
            self._report()

    def _write(self, content: bytes | bytearray, draft: Draft) -> None:
        self._digest.update(content)
        self._size += len(content)
        draft.write(content)

    def _report(self) -> None:
        if time.monotonic() >= self._report_at:
            self._progress(self._encoder.rows, self._size)
            self._report_at = time.monotonic() + PROGRESS_SECONDS

    def _obey_stop(self) -> None:
        if self._stop.is_set:
            raise BuildStopped
