"""A sliding window of write requests that sees the status of every single one, in whatever order they come.

Sending one write and waiting for its answer costs a round trip each; sending all and looking at some answers
loses errors, and with them the knowledge of what the server has. So: a bounded number is outstanding, every
answer is read, and the upload is confirmed only when no write is unanswered and none was refused.
"""

from typing import Final, Protocol

from exports.destinations.protocol import Progress
from exports.destinations.sftp.packets import Garbled, Kind, Reader, long_number, number, text
from exports.destinations.sftp.wire import Status, Wire, raise_for_status

PROGRESS_BYTES: Final = 1024 * 1024
"""Progress is told about once per MiB: often enough for a screen, too seldom to cost anything."""


class Blocks(Protocol):
    """Something that is read block by block."""

    def read(self, count: int, /) -> bytes:
        """Return the next block, empty at the end."""


class WindowedWriter:
    """Writes one handle from its beginning. Raises the first Status that any write was answered with."""

    def __init__(self, wire: Wire, handle: bytes, window: int, progress: Progress) -> None:
        self._wire: Final = wire
        self._handle: Final = text(handle)
        self._window: Final = window
        self._progress: Final = progress
        self._outstanding = 0
        self._refused: Status | None = None
        self._offset = 0
        self._confirmed = 0
        self._told = 0

    def write_all(self, source: Blocks, request_bytes: int) -> int:
        """Write everything `source` still holds and wait for every answer; returns the bytes confirmed."""
        while block := source.read(request_bytes):
            self._write(block)
        self._reap(most_outstanding=0)
        self._progress(self._confirmed)
        return self._confirmed

    def _write(self, block: bytes) -> None:
        self._reap(most_outstanding=self._window - 1)
        size = len(block)
        self._wire.request(
            lambda kind, reader: self._answered(size, kind, reader),
            Kind.WRITE,
            self._handle,
            long_number(self._offset),
            number(size),
            block,
        )
        self._outstanding += 1
        self._offset += size

    def _reap(self, most_outstanding: int) -> None:
        """Read answers until few enough are missing, and any further one that is already here."""
        while self._outstanding > most_outstanding or (self._outstanding and self._wire.answer_is_near):
            self._wire.take_answer()
        if self._refused is not None:
            raise self._refused
        if self._confirmed - self._told >= PROGRESS_BYTES:
            self._told = self._confirmed
            self._progress(self._confirmed)

    def _answered(self, size: int, kind: Kind, reader: Reader) -> None:
        self._outstanding -= 1
        if kind is not Kind.STATUS:
            raise Garbled("a write was answered with something else than a status")
        try:
            raise_for_status(reader)
            self._confirmed += size
        except Status as status:
            self._refused = self._refused or status
