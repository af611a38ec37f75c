"""A probe's requests on an SFTP session, in the one directory of its contract (implements scratch.Scratch)."""

from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from typing import Final

from exports.contracts import Contract
from exports.destinations.naming import final_path
from exports.destinations.protocol import no_progress
from exports.destinations.scratch import Failed, Part, in_turn, plain
from exports.destinations.sftp.packets import FAILURE, UNSUPPORTED
from exports.destinations.sftp.requests import FSYNC, Requests
from exports.destinations.sftp.wire import Lost, Status, Wire
from exports.destinations.sftp.writer import WindowedWriter
from exports.evidence import Accepted, Answer, Phase, Refused, Sighting, shown


class SftpScratch:
    """The folder of one session; `seen` and `answer` are the session's own ways of asking within a bound."""

    def __init__(
        self,
        contract: Contract,
        wire: Wire,
        seen: Callable[[str], Sighting],
        answer: Callable[[Callable[[], None]], Answer],
    ) -> None:
        self._contract: Final = contract
        self._wire: Final = wire
        self._requests: Final = Requests(wire)
        self._seen: Final = seen
        self._answer: Final = answer

    @property
    def extensions(self) -> tuple[str, ...]:
        """The names that the server announced when SFTP was opened."""
        return tuple(sorted(self._wire.extensions))

    def folder(self) -> Sighting:
        """Look at the directory itself."""
        return self._seen(self._contract.paths.directory)

    def create(self, name: str, content: bytes) -> tuple[Part, ...]:
        """Create, write through the window, flush where it is advertised, close."""
        file = _File(self._wire, self._requests, self._contract)
        path = self._path(name)
        steps = [
            (Phase.OPEN, lambda: self._answer(lambda: file.create(path))),
            (Phase.WRITE, lambda: self._answer(lambda: file.write(content))),
            (Phase.CLOSE, lambda: self._answer(file.close)),
        ]
        if FSYNC in self._wire.extensions:
            steps.insert(2, (Phase.FSYNC, lambda: self._answer(file.flush)))
        parts = in_turn(*steps)
        file.let_go()
        return parts

    def look(self, name: str) -> Sighting:
        """Look at a name."""
        return self._seen(self._path(name))

    def listed(self) -> frozenset[str] | Failed:
        """List the directory."""
        found: list[bytes] = []
        answer = self._answer(lambda: found.extend(self._requests.names(self._contract.paths.directory) or {}))
        return frozenset(map(shown, found)) if isinstance(answer, Accepted) else answer

    def read(self, name: str, most_bytes: int) -> bytes | Failed:
        """Download a file."""
        content: list[bytes | None] = []
        path = self._path(name)
        answer = self._answer(lambda: content.append(self._requests.content(path, most_bytes)))
        if not isinstance(answer, Accepted):
            return answer
        return Refused(FAILURE, "more came back than was written") if content[0] is None else content[0]

    def sha256(self, name: str) -> str | Failed:
        """Ask by check-file-name, whether it is advertised or not: servers that have it often do not say so."""
        told: list[str | None] = []
        path = self._path(name)
        answer = self._answer(lambda: told.append(self._requests.sha256(path)))
        if not isinstance(answer, Accepted):
            return answer
        return told[0] or Refused(UNSUPPORTED, "the answer was no SHA-256")

    def rename(self, old: str, new: str) -> Answer:
        """Send a plain rename."""
        return self._answer(lambda: self._requests.rename(self._path(old), self._path(new)))

    def link(self, old: str, new: str) -> Answer:
        """Send a hardlink request."""
        return self._answer(lambda: self._requests.link(self._path(old), self._path(new)))

    def replace(self, old: str, new: str) -> Answer:
        """Send a posix-rename."""
        return self._answer(lambda: self._requests.posix_rename(self._path(old), self._path(new)))

    def remove(self, name: str) -> Answer:
        """Send a remove."""
        return self._answer(lambda: self._requests.remove(self._path(name)))

    def _path(self, name: str) -> str:
        return final_path(self._contract, plain(name))


class _File:
    """One file being created."""

    def __init__(self, wire: Wire, requests: Requests, contract: Contract) -> None:
        self._wire: Final = wire
        self._requests: Final = requests
        self._limits: Final = contract.limits
        self._handle: bytes | None = None

    def create(self, path: str) -> None:
        """Open exclusively."""
        self._handle = self._requests.create(path)

    def write(self, content: bytes) -> None:
        """Write everything through the contract's window."""
        writer = WindowedWriter(self._wire, self._open, self._limits.max_outstanding_writes, no_progress)
        writer.write_all(BytesIO(content), self._limits.request_bytes)

    def flush(self) -> None:
        """Ask for the file to reach the disk."""
        self._requests.fsync(self._open)

    def close(self) -> None:
        """Close; the handle is gone whatever the answer."""
        handle, self._handle = self._open, None
        self._requests.close(handle)

    def let_go(self) -> None:
        """Close after a part that failed; its reason is already known."""
        if self._handle is not None:
            with suppress(Status, Lost):
                self.close()

    @property
    def _open(self) -> bytes:
        assert self._handle is not None, "no part follows one that failed"  # noqa: S101 - only a bug
        return self._handle
