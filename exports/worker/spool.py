"""Private files of attempts on the local disk: where contact data waits for its upload, and nowhere else.

The directory is opened without following a link, judged by its descriptor, and every file is made and
removed relative to that descriptor, so that nothing can be swapped underneath between check and use.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final
from uuid import UUID

from exports.conf import limits
from exports.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

Digest = bytes
"""32 bytes of SHA-256. Its own name, because a file's field `bytes` hides the type's."""

DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600

_NOT_A_DIRECTORY: Final = "it is a link or a file"
_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME: Final = re.compile(rf"({_UUID})\.({_UUID})\.part")


class SpoolRefused(ExportError):  # noqa: N818 - a refusal, like the other members of the family
    """The spool directory is not one that contact data may be written to."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A finished file: what cutoff 2 records as expected, and what the destination uploads.

    `rows` counts contacts without the header; `sha256` is the digest of exactly the `bytes` on disk.
    """

    path: Path
    rows: int
    bytes: int
    sha256: Digest

    def open(self) -> BinaryIO:
        """Open it for reading, refusing a link under its name; OSError when it is gone."""
        return os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")

    def delete(self) -> None:
        """Remove it: idempotent, never raises; a failure is logged and left to the scavenger."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            log_kept(self.path.name, error)


@dataclass(frozen=True, slots=True)
class Spool:
    """The spool directory of this process, as the settings name it."""

    directory: Path

    @classmethod
    def configured(cls) -> Spool:
        """Return the directory of EXPORT_SPOOL_DIR; nothing is checked or made yet."""
        return cls(limits().spool_dir)

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Hold a descriptor of the directory, made when missing; SpoolRefused says what is wrong with it."""
        descriptor = self._open()
        try:
            _refuse_if_shared(os.fstat(descriptor), self.directory)
            yield descriptor
        finally:
            os.close(descriptor)

    def require_space(self) -> None:
        """Refuse to begin when the disk has less free space than EXPORT_SPOOL_FLOOR_BYTES.

        Its default is what other processes on the disk (logs, the database of a small installation) need to go on,
        and about the size of an export of two million contacts.
        """
        floor = limits().spool_floor_bytes
        with self.opened() as descriptor:
            found = os.fstatvfs(descriptor)
        if found.f_bavail * found.f_frsize < floor:
            raise SpoolRefused(f"The disk of the spool directory has less than {floor} bytes free.")

    @contextmanager
    def draft(self, job_id: UUID, attempt_id: UUID) -> Iterator[Draft]:
        """Make the attempt's file, and remove it again unless the block ends with `keep`."""
        draft = Draft(self, file_name(job_id, attempt_id))
        try:
            yield draft
        finally:
            draft.close()

    def remove(self, name: str) -> None:
        """Remove one entry, a link never being followed; OSError when that fails."""
        with self.opened() as descriptor:
            os.unlink(name, dir_fd=descriptor)

    def _open(self) -> int:
        if not self.directory.is_absolute():
            raise SpoolRefused("EXPORT_SPOOL_DIR must be an absolute path.")
        try:
            with suppress(FileExistsError):
                self.directory.mkdir(DIRECTORY_MODE)
            return os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            said = _NOT_A_DIRECTORY if error.errno in (errno.ELOOP, errno.ENOTDIR) else os.strerror(error.errno or 0)
            raise SpoolRefused(f"{self.directory} cannot be the spool directory: {said}.") from error


class Draft:
    """A file being written; it disappears when closed, unless it was kept."""

    def __init__(self, spool: Spool, name: str) -> None:
        self._spool = spool
        self._name = name
        self._kept = False
        with spool.opened() as directory:
            # O_EXCL: whatever already stands under this name, a link included, is not ours to write to.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor: int | None = os.open(name, flags, FILE_MODE, dir_fd=directory)
        os.fchmod(self._descriptor, FILE_MODE)  # whatever the umask took away

    def write(self, block: bytes | bytearray) -> None:
        """Write the whole block, or raise OSError."""
        assert self._descriptor is not None, "a closed draft is written to"  # noqa: S101 - only a bug
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def keep(self, *, rows: int, size: int, sha256: bytes) -> ExportFile:
        """Close the file and leave it in place; OSError when the disk reports an error only now."""
        assert self._descriptor is not None, "a closed draft is kept"  # noqa: S101 - only a bug
        written = os.fstat(self._descriptor).st_size
        descriptor, self._descriptor = self._descriptor, None
        os.close(descriptor)
        if written != size:
            raise OSError(errno.EIO, "the file is not as long as what was written to it")
        self._kept = True
        return ExportFile(self._spool.directory / self._name, rows=rows, bytes=size, sha256=sha256)

    def close(self) -> None:
        """End the draft: a file that was not kept is removed, or logged for the scavenger. Never raises."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None
        if not self._kept:
            self._discard()

    def _discard(self) -> None:
        try:
            self._spool.remove(self._name)
        except (OSError, ExportError) as error:
            log_kept(self._name, error)


def file_name(job_id: UUID, attempt_id: UUID) -> str:
    """Return the name of an attempt's file; it holds ids and nothing a person wrote."""
    return f"{job_id}.{attempt_id}.part"


def owner_of(name: str) -> tuple[UUID, UUID] | None:
    """Return job and attempt of a file's name, or None when the name is not one of ours."""
    match = _NAME.fullmatch(name)
    return None if match is None else (UUID(match[1]), UUID(match[2]))


def log_kept(name: str, error: Exception) -> None:
    """Say which attempt's contact data is still on this disk, and why."""
    job_id, attempt_id = owner_of(name) or (None, None)
    said = errno.errorcode.get(error.errno or 0, "") if isinstance(error, OSError) else str(error)
    facts = {"job_id": str(job_id), "attempt_id": str(attempt_id), "file": name, "error": said}
    logger.error("spool_file_not_removed", extra=facts)


def _refuse_if_shared(found: os.stat_result, directory: Path) -> None:
    """Contact data is for the account that runs the worker and for nobody else."""
    if found.st_uid != os.geteuid():
        raise SpoolRefused(f"{directory} must belong to the account that runs this process.")
    # The set-group-id bit that some parents pass on changes nothing: the group has no rights to anything here.
    if stat.S_IMODE(found.st_mode) & 0o777 != DIRECTORY_MODE:
        raise SpoolRefused(f"{directory} must have mode 0700: chmod 700 it.")
