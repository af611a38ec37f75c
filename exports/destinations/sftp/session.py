"""A session with an SFTP server: what the delivery asks for, as requests, and their answers as evidence."""

import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol

from exports.contracts import ChecksumAlgorithm, Contract, OverwriteForm, PublishMode
from exports.destinations.naming import final_path, path_of, temporary_path
from exports.destinations.protocol import Abandon, Progress, Uploaded, never, no_progress
from exports.destinations.sftp.packets import NO_SUCH_FILE, PERMISSION_DENIED, Attributes
from exports.destinations.sftp.requests import Requests
from exports.destinations.sftp.scratch import SftpScratch
from exports.destinations.sftp.uploading import Job, Upload
from exports.destinations.sftp.wire import Lost, Status, Wire
from exports.destinations.watchdog import WATCHDOG, Watch
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_HEALTH_SECONDS: Final = 5.0  # a server that needs longer for a harmless question is not worth reusing

_FORMS: Final = {
    PublishMode.HARDLINK_REMOVE: PublishForm.LINK,
    PublishMode.RENAME_NOREPLACE: PublishForm.RENAME,
    PublishMode.DIRECT_WRITE: PublishForm.DIRECT_WRITE,
}


class Connection(Protocol):
    """What a session needs to know of the connection that carries it."""

    @property
    def server(self) -> str:
        """The server's identification line."""

    @property
    def host_key(self) -> str:
        """Fingerprint of the key it proved itself with."""

    @property
    def broken_off(self) -> bool:
        """Whether this side broke it off, by a deadline or by closing."""

    def break_off(self) -> None:
        """End it at once from any thread; whoever waits on it wakes up."""


class SftpSession:
    """One signed-in SFTP session under one contract (implements protocol.Session)."""

    def __init__(self, contract: Contract, connection: Connection, wire: Wire) -> None:
        self._contract: Final = contract
        self._connection: Final = connection
        self._wire: Final = wire
        self._requests: Final = Requests(wire)
        self._deadline: Watch | None = None
        wire.was_broken_off = lambda: connection.broken_off

    @property
    def server(self) -> str:
        """What the server calls itself."""
        return self._connection.server

    @property
    def host_key(self) -> str:
        """Fingerprint of the key the server proved itself with."""
        return self._connection.host_key

    @property
    def doubtful(self) -> bool:
        """Whether the stream is lost or broken off."""
        return self._wire.lost is not None or self._connection.broken_off

    def look(self, name: str) -> Sighting:
        """Say what stands under `name` in the final directory, by the way the contract allows."""
        may = self._contract.permissions
        if may.may_stat:
            return self._seen(final_path(self._contract, name))
        if may.may_list:
            return self._listed(self._contract.paths.directory, [name])[name]
        return Forbidden(None, "the contract lets nothing be looked at")

    def read_back(self, name: str) -> Sighting:
        """Look, and add the hash where the contract has one and the server tells it."""
        seen = self.look(name)
        if not isinstance(seen, Present) or not seen.regular:
            return seen
        return Present(seen.size, self._hash(final_path(self._contract, name)))

    def look_in(self, directory: str, names: "Sequence[str]") -> dict[str, Sighting]:
        """Say what stands under each name: by a stat each, or by one listing where that is all we may."""
        may, where = self._contract.permissions, directory or self._contract.paths.directory
        if may.may_stat:
            return self._absent_only_there(where, {name: self._seen(path_of(where, name)) for name in names})
        if may.may_list:
            return self._listed(where, names)
        return dict.fromkeys(names, Forbidden(None, "the contract lets nothing be looked at"))

    def hash_in(self, directory: str, name: str) -> str | None:
        """Return the content's hash by the contract's way."""
        return self._hash(path_of(directory or self._contract.paths.directory, name))

    def fetch(self, directory: str, name: str, most_bytes: int) -> bytes | None:
        """Read a small file whole."""
        if not self._contract.permissions.may_read:
            return None
        path = path_of(directory or self._contract.paths.directory, name)
        try:
            with self._within(self._contract.limits.idle_timeout_seconds):
                return self._requests.content(path, most_bytes)
        except (Status, Lost):
            return None

    def upload(
        self, source: "Path", size: int, temporary: str, *, progress: Progress, abandon: Abandon
    ) -> Uploaded | UploadFailed:
        """Write the file under its temporary name, and read back its size where that is allowed."""
        path = temporary_path(self._contract, temporary)
        return self._upload(Job(source, size, path, progress, abandon))

    def publish_form(self, *, overwrite: bool) -> PublishForm | None:
        """Say which request `publish` sends."""
        if not overwrite:
            return _FORMS[self._contract.publish.mode]
        agreed = self._contract.publish.overwrite is OverwriteForm.POSIX_RENAME
        return PublishForm.POSIX_RENAME if agreed else None

    def publish(self, temporary: str, final: str, *, overwrite: bool) -> Answer:
        """Send the one request that gives the file its final name."""
        old, new = temporary_path(self._contract, temporary), final_path(self._contract, final)
        match self.publish_form(overwrite=overwrite):
            case PublishForm.LINK:
                return self._answer(lambda: self._requests.link(old, new))
            case PublishForm.RENAME:
                return self._answer(lambda: self._requests.rename(old, new))
            case PublishForm.POSIX_RENAME:
                return self._answer(lambda: self._requests.posix_rename(old, new))
            case PublishForm.DIRECT_WRITE | None:
                raise ValueError("this contract has no request for that")

    def write_final(
        self, source: "Path | bytes", size: int, final: str, *, progress: Progress, abandon: Abandon
    ) -> Answer:
        """Create the final name exclusively and write it in place."""
        done = self._run(Job(source, size, final_path(self._contract, final), progress, abandon))
        return Accepted() if isinstance(done, Uploaded) else _as_answer(done)

    def temporaries(self) -> list[str] | None:
        """List the directory of temporary names; a name that is not of our letters is left out."""
        paths = self._contract.paths
        found = self._listing(paths.temporary_directory or paths.directory)
        return [name.decode() for name in found if name.isascii()] if isinstance(found, dict) else None

    def remove(self, temporary: str) -> Answer:
        """Remove our own temporary name; one that is gone already is what was wanted."""
        answer = self._answer(lambda: self._requests.remove(temporary_path(self._contract, temporary)))
        gone = isinstance(answer, Refused) and answer.code == NO_SUCH_FILE
        return Accepted() if gone else answer

    def put(self, content: bytes, name: str, *, overwrite: bool) -> Answer:
        """Write a companion file as carefully as the file itself: temporary name, size, one publish."""
        if self._contract.publish.mode is PublishMode.DIRECT_WRITE:
            return self.write_final(content, len(content), name, progress=no_progress, abandon=never)
        paths = self._contract.paths
        temporary = f"{paths.temporary_prefix}{name}.{uuid.uuid4()}{paths.temporary_suffix}"
        done = self._upload(Job(content, len(content), temporary_path(self._contract, temporary), no_progress, never))
        if isinstance(done, UploadFailed):
            return _as_answer(done)
        answer = self.publish(temporary, name, overwrite=overwrite)
        if not self.doubtful and not (overwrite and isinstance(answer, Accepted)):
            self.remove(temporary)
        return answer

    def scratch(self) -> SftpScratch:
        """Return what a probe may try in this session's directory."""
        return SftpScratch(self._contract, self._wire, self._seen, self._answer)

    def set_deadline(self, seconds: float | None) -> None:
        """Break the connection off so many seconds from now; None lifts the bound."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else WATCHDOG.watch(seconds, self._connection.break_off)

    def healthy(self) -> bool:
        """Ask where we are, within a short bound."""
        if self.doubtful:
            return False
        try:
            with self._within(_HEALTH_SECONDS):
                self._requests.real_path()
        except (Status, Lost):
            return False
        return not self.doubtful

    def close(self) -> None:
        """End the connection."""
        self.set_deadline(None)
        self._connection.break_off()

    def _run(self, job: Job) -> Uploaded | UploadFailed:
        with self._within(self._contract.limits.attempt_deadline_seconds):
            return Upload(self._wire, self._requests, self._contract.limits).run(job)

    def _upload(self, job: Job) -> Uploaded | UploadFailed:
        done = self._run(job)
        if isinstance(done, UploadFailed) or not self._contract.permissions.may_stat:
            return done
        return self._verified(job)

    def _verified(self, job: Job) -> Uploaded | UploadFailed:
        """Read back the size after CLOSE: a quota may have taken a file whose every write was accepted."""
        seen = self._seen(job.path)
        match seen:
            case Present(size=job.size):
                return Uploaded(job.size)
            case Present():
                words = f"the server shows {seen.size} bytes instead of {job.size}"
                return UploadFailed(Phase.VERIFY, Trouble.PROTOCOL, None, words)
            case Absent():
                return UploadFailed(Phase.VERIFY, Trouble.STATUS, NO_SUCH_FILE, "the file is gone after CLOSE")
            case Forbidden(code=code, text=said):
                return UploadFailed(Phase.VERIFY, Trouble.STATUS, code, said)
            case Unanswered():
                return UploadFailed(Phase.VERIFY, seen.trouble, seen.code, seen.text)

    @contextmanager
    def _within(self, seconds: float) -> "Iterator[None]":
        """Break the connection off when what is done here takes longer, however busy the server keeps us."""
        watch = WATCHDOG.watch(seconds, self._connection.break_off)
        try:
            yield
        finally:
            watch.cancel()

    def _seen(self, path: str) -> Sighting:
        try:
            with self._within(self._contract.limits.idle_timeout_seconds):
                return _present(self._requests.lstat(path))
        except Status as status:
            return _from_status(status)
        except Lost as lost:
            return Unanswered(lost.trouble, None, lost.text)

    def _absent_only_there(self, directory: str, seen: dict[str, Sighting]) -> dict[str, Sighting]:
        """Take back every Absent when the directory is not to be seen either (a share that is not mounted)."""
        if Absent() not in seen.values() or isinstance(self._seen(directory or "."), Present):
            return seen
        missing = Unanswered(Trouble.STATUS, NO_SUCH_FILE, "the directory itself is not to be seen")
        return {name: missing if isinstance(each, Absent) else each for name, each in seen.items()}

    def _listed(self, directory: str, names: "Sequence[str]") -> dict[str, Sighting]:
        """Look by listing the directory once, for partners that allow that and no stat."""
        found = self._listing(directory)
        if not isinstance(found, dict):
            return dict.fromkeys(names, found)
        attributes = {name: found.get(name.encode()) for name in names}
        return {name: Absent() if each is None else _present(each) for name, each in attributes.items()}

    def _listing(self, directory: str) -> dict[bytes, Attributes] | Sighting:
        try:
            with self._within(self._contract.limits.idle_timeout_seconds):
                found = self._requests.names(directory)
        except Status as status:
            denied = status.code == PERMISSION_DENIED
            return _from_status(status) if denied else _no_listing(status)
        except Lost as lost:
            return Unanswered(lost.trouble, None, lost.text)
        if found is None:
            return Unanswered(Trouble.PROTOCOL, None, "the directory holds too many names to be read")
        return found

    def _hash(self, path: str) -> str | None:
        """Return the content's hash by the contract's way, None where the server will not tell it."""
        try:
            # Hashing a large file takes the server as long as sending it took us, so the larger bound holds.
            with self._within(self._contract.limits.attempt_deadline_seconds):
                return self._asked_hash(path) or self._downloaded_hash(path)
        except Lost:
            return None

    def _asked_hash(self, path: str) -> str | None:
        if self._contract.verification.checksum is not ChecksumAlgorithm.SHA256:
            return None
        with suppress(Status):
            return self._requests.sha256(path)
        return None

    def _downloaded_hash(self, path: str) -> str | None:
        if not self._contract.verification.read_back:
            return None
        with suppress(Status):
            return self._requests.content_sha256(path)
        return None

    def _answer(self, ask: "Callable[[], None]") -> Answer:
        try:
            with self._within(self._contract.limits.idle_timeout_seconds):
                ask()
        except Status as status:
            return Refused(status.code, status.text)
        except Lost as lost:
            return NoReply(lost.trouble, lost.text)
        return Accepted()


def _present(attributes: Attributes) -> Present:
    return Present(attributes.size, None, attributes.regular is not False)


def _from_status(status: Status) -> Sighting:
    match status.code:
        case code if code == NO_SUCH_FILE:
            return Absent()
        case code if code == PERMISSION_DENIED:
            return Forbidden(status.code, status.text)
        case _:
            return Unanswered(Trouble.STATUS, status.code, status.text)


def _no_listing(status: Status) -> Unanswered:
    """Return a failed listing as no answer: a missing directory says nothing of a name within it."""
    return Unanswered(Trouble.STATUS, status.code, status.text)


def _as_answer(failed: UploadFailed) -> Answer:
    """Return a failed write of a final name as the answer to its publish: refused, or nobody knows."""
    if failed.trouble is Trouble.STATUS and failed.code is not None:
        return Refused(failed.code, f"{failed.phase}: {failed.text}")
    return NoReply(failed.trouble, f"{failed.phase}: {failed.text}")
