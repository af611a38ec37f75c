"""One upload, step by step, and in which step it ended: nothing here ever touches a final name by itself."""

from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from exports.contracts import Limits
from exports.destinations.protocol import Abandon, Progress, Uploaded
from exports.destinations.sftp.packets import UNSUPPORTED
from exports.destinations.sftp.requests import FSYNC, Requests
from exports.destinations.sftp.wire import Lost, Status, Wire, nothing
from exports.destinations.sftp.writer import WindowedWriter
from exports.evidence import Phase, Trouble, UploadFailed

_LOOK_UP_EVERY: Final = 64  # blocks; about 2 MiB between two questions whether to give up


class Abandoned(Exception):  # noqa: N818 - says what happened
    """Whoever asked for the upload called it off."""


class SourceFailed(Exception):  # noqa: N818 - says what happened
    """The local file could not be read, or is not the file that was authorized."""


@dataclass(frozen=True)
class Job:
    """What is to be written where: `size` bytes of a source, under a name that must not exist yet."""

    source: Path | bytes
    size: int
    path: str
    progress: Progress
    abandon: Abandon

    def open(self) -> BinaryIO:
        """Open the source for reading."""
        if isinstance(self.source, bytes):
            return BytesIO(self.source)
        try:
            return self.source.open("rb")
        except OSError as error:
            raise SourceFailed(error.strerror or "the file could not be opened") from error


class _Watched:
    """A source that looks up regularly whether the upload was called off, and hides the local path in errors."""

    def __init__(self, source: BinaryIO, abandon: Abandon) -> None:
        self._source: Final = source
        self._abandon: Final = abandon
        self._blocks = 0

    def read(self, count: int) -> bytes:
        """Read a block, or raise Abandoned or SourceFailed."""
        if self._blocks % _LOOK_UP_EVERY == 0 and self._abandon():
            raise Abandoned
        self._blocks += 1
        try:
            return self._source.read(count)
        except OSError as error:
            raise SourceFailed(error.strerror or "the file could not be read") from error


class Upload:
    """Writes one job; `phase` says where it is, which is where it ended when something is raised."""

    def __init__(self, wire: Wire, requests: Requests, limits: Limits) -> None:
        self.phase = Phase.OPEN
        self._wire: Final = wire
        self._requests: Final = requests
        self._limits: Final = limits

    def run(self, job: Job) -> Uploaded | UploadFailed:
        """Write the job and close it; the phase and the reason when that did not work."""
        try:
            self._write(job)
        except Status as status:
            return UploadFailed(self.phase, Trouble.STATUS, status.code, status.text)
        except Lost as lost:
            return UploadFailed(self.phase, lost.trouble, None, lost.text)
        except Abandoned:
            return UploadFailed(self.phase, Trouble.ABANDONED, None, "the process was going down")
        except SourceFailed as failed:
            return UploadFailed(self.phase, Trouble.LOCAL, None, str(failed))
        return Uploaded(job.size)

    def _write(self, job: Job) -> None:
        self.phase = Phase.OPEN
        with job.open() as source:
            handle = self._requests.create(job.path)
            try:
                self._write_and_close(job, source, handle)
            except (Status, Abandoned, SourceFailed):
                self._close_quietly(handle)
                raise

    def _write_and_close(self, job: Job, source: BinaryIO, handle: bytes) -> None:
        self.phase = Phase.WRITE
        self._wire.while_waiting = lambda: _raise_if(job.abandon)
        try:
            written = self._write_blocks(job, source, handle)
        finally:
            self._wire.while_waiting = nothing
        if written != job.size:
            raise SourceFailed(f"the local file has {written} bytes instead of {job.size}")
        self._flush(handle)
        self.phase = Phase.CLOSE
        self._requests.close(handle)

    def _write_blocks(self, job: Job, source: BinaryIO, handle: bytes) -> int:
        writer = WindowedWriter(self._wire, handle, self._limits.max_outstanding_writes, job.progress)
        return writer.write_all(_Watched(source, job.abandon), self._limits.request_bytes)

    def _flush(self, handle: bytes) -> None:
        """Ask for the file to reach the disk where the server advertises it; an unsupported one is no error."""
        if FSYNC not in self._wire.extensions:
            return
        self.phase = Phase.FSYNC
        try:
            self._requests.fsync(handle)
        except Status as status:
            if status.code != UNSUPPORTED:
                raise

    def _close_quietly(self, handle: bytes) -> None:
        """Close after a failure whose reason is already known; a second failure adds nothing to it."""
        if self.phase is not Phase.CLOSE:
            with suppress(Status, Lost):
                self._requests.close(handle)


def _raise_if(abandon: Abandon) -> None:
    if abandon():
        raise Abandoned
