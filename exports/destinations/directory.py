"""A destination that is a directory, usually a mounted share: published by link(2), which never overwrites.

Every name is used relative to the descriptor of its directory, so no link and no renamed parent can lead
elsewhere. A hung network mount can block a system call for ever; each call therefore has a bound, and one that
outlasts it leaves the session doubtful and its thread behind.
"""

import errno
import hashlib
import os
import time
import uuid
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from exports.contracts import ChecksumAlgorithm, Contract, OverwriteForm, PublishMode
from exports.destinations.bounded import BoundedCalls
from exports.destinations.directory_scratch import DirectoryScratch
from exports.destinations.protocol import (
    Abandon,
    ConnectTrouble,
    CouldNotConnect,
    Passed,
    Progress,
    Stage,
    Surroundings,
    Uploaded,
    never,
    no_progress,
    unheard,
)
from exports.destinations.share import NotAllowedError, Share
from exports.evidence import (
    Absent,
    Accepted,
    Answer,
    Forbidden,
    NoReply,
    Phase,
    Present,
    PublishForm,
    Refused,
    Sighting,
    Trouble,
    Unanswered,
    UploadFailed,
)
from exports.secrets import Secret

_BLOCK_BYTES: Final = 1024 * 1024

_STATUS: Final = {
    errno.ENOENT: 2,
    errno.EACCES: 3,
    errno.EPERM: 3,
    errno.EROFS: 3,
    errno.EXDEV: 4,
    errno.EMLINK: 4,
    errno.ENAMETOOLONG: 4,
    errno.EOPNOTSUPP: 8,
    errno.ENOSYS: 8,
    errno.EEXIST: 11,
    errno.ENOSPC: 14,
    errno.EDQUOT: 15,
}
"""System errors as the status codes verdicts know. Any other (an I/O error of a network mount) is no answer:
such a mount may carry the request out all the same."""

T = TypeVar("T")


def open_directory(
    contract: Contract, secret: Secret, surroundings: Surroundings, passed: Passed = unheard
) -> "DirectorySession":
    """Open a session on a directory under one of the allowed roots; there is nothing to sign in to."""
    del secret
    calls = BoundedCalls("share")
    bound = contract.limits.connect_timeout_seconds
    try:
        share = calls.call(lambda: Share.opened(contract, surroundings.share_roots), bound)
    except OSError as error:
        calls.end(lambda: None)
        raise _unopened(error, bound) from None
    passed(Stage.CONNECT)
    return DirectorySession(contract, share, calls)


def _unopened(error: OSError, bound_seconds: float) -> CouldNotConnect:
    match error:
        case TimeoutError():
            words = f"the directory did not answer within {bound_seconds:g} s"
            return CouldNotConnect(ConnectTrouble.TIMEOUT, words)
        case NotAllowedError():
            return CouldNotConnect(ConnectTrouble.ADDRESS_NOT_ALLOWED, str(error))
        case _:
            words = f"the directory cannot be used: {error.strerror or error}"
            return CouldNotConnect(ConnectTrouble.DIRECTORY_UNUSABLE, words)


class DirectorySession:
    """One directory under one contract (implements protocol.Session)."""

    def __init__(self, contract: Contract, share: Share, calls: BoundedCalls) -> None:
        self._contract: Final = contract
        self._share: Final = share
        self._calls: Final = calls
        self._ends_at: float | None = None
        self._doubtful = False
        self._closed = False

    @property
    def server(self) -> str:
        """A directory says nothing of itself."""
        return ""

    @property
    def host_key(self) -> str:
        """A directory proves itself with nothing."""
        return ""

    @property
    def doubtful(self) -> bool:
        """Whether a call outlasted its bound, or the session was closed."""
        return self._doubtful

    def look(self, name: str) -> Sighting:
        """Say what stands under `name`, not following a link."""
        return self._sighting(lambda: self._share.size_of_final(name))

    def read_back(self, name: str) -> Sighting:
        """Look, and hash the content where the contract asks for a hash."""
        seen = self.look(name)
        proof = self._contract.verification
        hashes = proof.read_back or proof.checksum is ChecksumAlgorithm.SHA256
        if not hashes or not isinstance(seen, Present) or not seen.regular:
            return seen
        try:
            return Present(seen.size, self._hash(name))
        except OSError:
            return seen

    def look_in(self, directory: str, names: Sequence[str]) -> dict[str, Sighting]:
        """Say what stands under each name, in one call for all of them."""
        try:
            return dict(self.do(lambda: self._share.sizes_in(directory, names)))
        except OSError as error:
            trouble, code, words = troubled(error)
            return dict.fromkeys(names, Unanswered(trouble, code, words))

    def hash_in(self, directory: str, name: str) -> str | None:
        """Hash what stands there, where the contract asks for a hash."""
        proof = self._contract.verification
        if not (proof.read_back or proof.checksum is ChecksumAlgorithm.SHA256):
            return None
        try:
            return self._hash(name, directory)
        except OSError:
            return None

    def fetch(self, directory: str, name: str, most_bytes: int) -> bytes | None:
        """Read a small file whole."""
        if not self._contract.permissions.may_read:
            return None
        try:
            content = self.do(lambda: self._share.head(directory, name, most_bytes + 1))
        except OSError:
            return None
        return None if len(content) > most_bytes else content

    def upload(
        self, source: Path, size: int, temporary: str, *, progress: Progress, abandon: Abandon
    ) -> Uploaded | UploadFailed:
        """Copy the file under its temporary name, flush it, and check its size."""
        return _Copy(self, self._share.temporary, temporary, progress, abandon).run(source, size)

    def publish_form(self, *, overwrite: bool) -> PublishForm | None:
        """Say which call `publish` makes; a directory has no plain rename, since that replaces silently."""
        if overwrite:
            agreed = self._contract.publish.overwrite is OverwriteForm.POSIX_RENAME
            return PublishForm.POSIX_RENAME if agreed else None
        linked = self._contract.publish.mode is PublishMode.HARDLINK_REMOVE
        return PublishForm.LINK if linked else PublishForm.DIRECT_WRITE

    def publish(self, temporary: str, final: str, *, overwrite: bool) -> Answer:
        """Make the one call that gives the file its final name."""
        match self.publish_form(overwrite=overwrite):
            case PublishForm.LINK:
                return self._answer(lambda: self._share.link(temporary, final))
            case PublishForm.POSIX_RENAME:
                return self._answer(lambda: self._share.replace(temporary, final))
            case _:
                raise ValueError("this contract has no call for that")

    def write_final(
        self, source: Path | bytes, size: int, final: str, *, progress: Progress, abandon: Abandon
    ) -> Answer:
        """Create the final name exclusively and write it in place."""
        done = _Copy(self, self._share.final, final, progress, abandon).run(source, size)
        return Accepted() if isinstance(done, Uploaded) else _as_answer(done)

    def temporaries(self) -> list[str] | None:
        """List the directory of temporary names."""
        try:
            return self.do(self._share.temporary_names)
        except OSError:
            return None

    def remove(self, temporary: str) -> Answer:
        """Remove our own temporary name; one that is gone already is what was wanted."""
        return self._answer(lambda: self._share.remove(temporary))

    def put(self, content: bytes, name: str, *, overwrite: bool) -> Answer:
        """Write a companion file: temporary name, size, one publish."""
        if self._contract.publish.mode is PublishMode.DIRECT_WRITE:
            return self.write_final(content, len(content), name, progress=no_progress, abandon=never)
        paths = self._contract.paths
        temporary = f"{paths.temporary_prefix}{name}.{uuid.uuid4()}{paths.temporary_suffix}"
        done = _Copy(self, self._share.temporary, temporary, no_progress, never).run(content, len(content))
        if isinstance(done, UploadFailed):
            return _as_answer(done)
        answer = self.publish(temporary, name, overwrite=overwrite)
        if not self._doubtful:
            self.remove(temporary)
        return answer

    def scratch(self) -> DirectoryScratch:
        """Return what a probe may try in this session's directory."""
        return DirectoryScratch(self._share, self._sighting, self._answer)

    def set_deadline(self, seconds: float | None) -> None:
        """Let no call wait beyond so many seconds from now; None lifts the bound."""
        self._ends_at = None if seconds is None else time.monotonic() + seconds

    def healthy(self) -> bool:
        """Whether the directory still answers."""
        try:
            self.do(self._share.check)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of the directory, as soon as no hung call holds it any more."""
        self._doubtful = True
        if not self._closed:
            self._closed = True
            self._calls.end(self._share.close)

    def do(self, act: Callable[[], T]) -> T:
        """Make one call within its bound. OSError of any kind, TimeoutError included, is the caller's to read."""
        if self._doubtful:
            raise TimeoutError("the directory did not answer before")
        try:
            return self._calls.call(act, self._bound())
        except TimeoutError:
            self._doubtful = True
            raise

    def _bound(self) -> float:
        idle = float(self._contract.limits.idle_timeout_seconds)
        return idle if self._ends_at is None else max(0.0, min(idle, self._ends_at - time.monotonic()))

    def _sighting(self, look: Callable[[], Present | Absent]) -> Sighting:
        try:
            return self.do(look)
        except OSError as error:
            trouble, code, words = troubled(error)
            return Forbidden(code, words) if code == _STATUS[errno.EACCES] else Unanswered(trouble, code, words)

    def _answer(self, act: Callable[[], None]) -> Answer:
        try:
            self.do(act)
        except OSError as error:
            trouble, code, words = troubled(error)
            return NoReply(trouble, words) if code is None else Refused(code, words)
        return Accepted()

    def _hash(self, name: str, directory: str = "") -> str:
        digest = hashlib.sha256()
        stream = self.do(lambda: self._share.open_in(directory, name))
        try:
            while block := self.do(lambda: stream.read(_BLOCK_BYTES)):
                digest.update(block)
        finally:
            if not self._doubtful:
                self.do(stream.close)
        return digest.hexdigest()


class _Copy:
    """One file written under a name that must not exist yet; `phase` is where it ended."""

    def __init__(
        self, session: DirectorySession, directory: int, name: str, progress: Progress, abandon: Abandon
    ) -> None:
        self._session: Final = session
        self._directory: Final = directory
        self._name: Final = name
        self._progress: Final = progress
        self._abandon: Final = abandon
        self._phase = Phase.OPEN

    def run(self, source: Path | bytes, size: int) -> Uploaded | UploadFailed:
        """Write `size` bytes of the source, flush them, and look at what stands there."""
        try:
            with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
                return self._written(stream, size)
        except OSError as error:
            return UploadFailed(Phase.OPEN, Trouble.LOCAL, None, error.strerror or "the file is unreadable")

    def _written(self, stream: BinaryIO, size: int) -> Uploaded | UploadFailed:
        try:
            return self._steps(stream, size)
        except OSError as error:
            trouble, code, words = troubled(error)
            return UploadFailed(self._phase, trouble, code, words)

    def _steps(self, stream: BinaryIO, size: int) -> Uploaded | UploadFailed:
        target = self._session.do(lambda: Share.created(self._directory, self._name))
        try:
            failed = self._blocks(stream, target, size)
            if failed is not None:
                return failed
            self._phase = Phase.FSYNC
            self._session.do(lambda: os.fsync(target))
            self._phase = Phase.VERIFY
            there = self._session.do(lambda: os.fstat(target).st_size)
        finally:
            if not self._session.doubtful:
                self._session.do(lambda: os.close(target))
        words = f"the directory shows {there} bytes instead of {size}"
        return Uploaded(size) if there == size else UploadFailed(self._phase, Trouble.PROTOCOL, None, words)

    def _blocks(self, stream: BinaryIO, target: int, size: int) -> UploadFailed | None:
        self._phase = Phase.WRITE
        confirmed = 0
        while block := stream.read(_BLOCK_BYTES):
            if self._abandon():
                return UploadFailed(self._phase, Trouble.ABANDONED, None, "the process was going down")
            self._session.do(lambda block=block: Share.write(target, block))  # type: ignore[misc]
            confirmed += len(block)
            self._progress(confirmed)
        words = f"the local file has {confirmed} bytes instead of {size}"
        return None if confirmed == size else UploadFailed(self._phase, Trouble.LOCAL, None, words)


def troubled(error: OSError) -> tuple[Trouble, int | None, str]:
    """Return what a system error means: its kind, the status code where it is a definite refusal, its words."""
    if isinstance(error, TimeoutError):
        return Trouble.TIMEOUT, None, str(error)
    code = _STATUS.get(error.errno or 0)
    words = error.strerror or str(error)
    return (Trouble.CONNECTION_LOST, None, words) if code is None else (Trouble.STATUS, code, words)


def _as_answer(failed: UploadFailed) -> Answer:
    words = f"{failed.phase}: {failed.text}"
    return NoReply(failed.trouble, words) if failed.code is None else Refused(failed.code, words)
