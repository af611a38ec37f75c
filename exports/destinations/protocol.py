"""What a destination must be able to do, and nothing about how.

A session is one connection used by one thread. Its methods return what the world answered, as typed evidence,
and raise nothing for what the world can break: an attempt must come out of every failure knowing which side
of the publish request it stands on. After an answer in doubt the session is `doubtful` and must be closed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from exports.contracts import Contract, EndpointKind
from exports.destinations.addresses import AddressPolicy
from exports.destinations.scratch import Scratch
from exports.errors import ExportError
from exports.evidence import Answer, PublishForm, Sighting, UploadFailed
from exports.secrets import Secret

Progress = Callable[[int], None]
"""Told how many bytes of the file the server has confirmed so far; cheap, and must not raise."""

Abandon = Callable[[], bool]
"""Asked between requests whether to give up before publishing (a drain bound, a dying worker)."""


def no_progress(confirmed_bytes: int) -> None:
    """Report to nobody."""
    del confirmed_bytes


def never() -> bool:
    """Abandon never."""
    return False


@dataclass(frozen=True)
class Uploaded:
    """The file is complete under its temporary name: every write, the close and the size are confirmed."""

    size: int


class Session(Protocol):
    """A connection to one destination under one contract. Not thread-safe; every call is bounded in time."""

    @property
    def server(self) -> str:
        """What the server calls itself, bounded and marked; empty when it says nothing."""

    @property
    def host_key(self) -> str:
        """Fingerprint of the key the server proved itself with; empty for a mounted share."""

    @property
    def doubtful(self) -> bool:
        """Whether an answer was lost or out of step, so that nothing more may be asked here."""

    def look(self, name: str) -> Sighting:
        """Say what stands under `name` in the final directory."""

    def read_back(self, name: str) -> Sighting:
        """Look, and add the content's hash where the contract has one: by the server, or by downloading."""

    def look_in(self, directory: str, names: Sequence[str]) -> dict[str, Sighting]:
        """Say what stands under each name in a directory of the contract's (empty: the final one).

        Absent only where the directory itself is there: a missing one says nothing of a name within it.
        """

    def hash_in(self, directory: str, name: str) -> str | None:
        """Return the SHA-256 (hex) of what stands there, where the contract has a way to it that worked."""

    def fetch(self, directory: str, name: str, most_bytes: int) -> bytes | None:
        """Read a small file whole; None where it may not be read, could not be, or is larger than `most_bytes`."""

    def upload(
        self, source: Path, size: int, temporary: str, *, progress: Progress, abandon: Abandon
    ) -> Uploaded | UploadFailed:
        """Write `source` (of `size` bytes) under a fresh temporary name and confirm all of it."""

    def publish_form(self, *, overwrite: bool) -> PublishForm | None:
        """Say which request `publish` would send; None where the contract has no form for it."""

    def publish(self, temporary: str, final: str, *, overwrite: bool) -> Answer:
        """Send the one publish request, without overwriting unless told. Never retried."""

    def write_final(self, source: Path, size: int, final: str, *, progress: Progress, abandon: Abandon) -> Answer:
        """Create `final` exclusively and write it in place (a direct-write contract's publish)."""

    def temporaries(self) -> list[str] | None:
        """List the directory of temporary names, one request however full it is; None where that tells nothing."""

    def remove(self, temporary: str) -> Answer:
        """Remove our own temporary name, exactly this one; already gone counts as accepted."""

    def put(self, content: bytes, name: str, *, overwrite: bool) -> Answer:
        """Write a small companion file in the final directory, as carefully as the file itself."""

    def scratch(self) -> Scratch:
        """Return what a probe may try in this session's directory of final names: its contract names no other."""

    def set_deadline(self, seconds: float | None) -> None:
        """Break the connection so many seconds from now, whatever it is doing then; None lifts the bound."""

    def healthy(self) -> bool:
        """Ask the server something harmless within a short bound; False means close it."""

    def close(self) -> None:
        """End the connection, whatever state it is in. Never raises, never waits long."""


@unique
class ConnectTrouble(StrEnum):
    """Why no session could be opened. Nothing of the export has left the process in any of these cases."""

    ADDRESS_UNKNOWN = "address_unknown"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    CONNECTION_REFUSED = "connection_refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    CLOSED_BY_SERVER = "closed_by_server"
    NO_COMMON_ALGORITHM = "no_common_algorithm"
    HOST_KEY_CHANGED = "host_key_changed"
    NO_VALID_HOST_KEY = "no_valid_host_key"
    AUTH_REFUSED = "auth_refused"
    AUTH_METHOD_NOT_OFFERED = "auth_method_not_offered"
    SECRET_UNUSABLE = "secret_unusable"  # noqa: S105 - names a trouble, holds none
    SFTP_NOT_OFFERED = "sftp_not_offered"
    DIRECTORY_UNUSABLE = "directory_unusable"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    PROTOCOL = "protocol"


class CouldNotConnect(ExportError):  # noqa: N818 - reads as what happened
    """No session could be opened; `words` tell an operator what was seen and what to do about it."""

    def __init__(self, kind: ConnectTrouble, words: str) -> None:
        self.kind: Final = kind
        self.words: Final = words
        super().__init__(f"{kind}: {words}")


@dataclass(frozen=True)
class Surroundings:
    """What the process allows destinations to touch, beyond any contract.

    `addresses` says which networks may be connected to; `share_roots` are the directories under which mounted
    shares may lie (none: no directory destination is allowed).
    """

    addresses: AddressPolicy = field(default_factory=AddressPolicy)
    share_roots: tuple[Path, ...] = ()


@unique
class Stage(StrEnum):
    """What opening a session has to get through, in this order; a mounted share has the first alone."""

    CONNECT = "connect"
    HOST_KEY = "host_key"
    SIGN_IN = "sign_in"
    SFTP = "sftp"


Passed = Callable[[Stage], None]
"""Told of each stage that an opening session has got through; cheap, and must not raise."""


def unheard(stage: Stage) -> None:
    """Tell nobody."""
    del stage


class Opener(Protocol):
    """Opens a session for one kind of endpoint."""

    def __call__(self, contract: Contract, secret: Secret, surroundings: Surroundings, passed: Passed) -> Session:
        """Connect and sign in within the contract's bound, telling each stage, or raise CouldNotConnect."""


_OPENERS: Final = {
    EndpointKind.SFTP: ("exports.destinations.sftp", "open_sftp"),
    EndpointKind.DIRECTORY: ("exports.destinations.directory", "open_directory"),
}


def open_session(contract: Contract, secret: Secret, surroundings: Surroundings, passed: Passed = unheard) -> Session:
    """Open a session to the contract's endpoint; raises CouldNotConnect and nothing else.

    Kinds are loaded on use: a process that never connects never loads an SSH library.
    """
    module, name = _OPENERS[contract.endpoint.kind]
    opener = cast("Opener", getattr(import_module(module), name))
    return opener(contract, secret, surroundings, passed)
