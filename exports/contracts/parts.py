"""The groups of a contract: small frozen records with their own bounds and defaults.

Every number has its unit in its name or docstring, and a bound that keeps one partner's contract from taking
a worker, a connection or the disk hostage.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique
from typing import Final

from exports.contracts import rules
from exports.typed_json import ruled

LARGEST_REQUEST_BYTES: Final = 32_256
"""Largest write request: with its header it still fits one SSH packet; larger ones break on real servers."""

_DAY: Final = 86_400


@unique
class EndpointKind(StrEnum):
    """How the partner's directory is reached."""

    SFTP = "sftp"
    DIRECTORY = "directory"


@unique
class AuthMethod(StrEnum):
    """What the partner asks for when we sign in."""

    PASSWORD = "password"  # noqa: S105 - the name of a method
    KEY = "key"
    KEY_AND_PASSWORD = "key_and_password"  # noqa: S105 - the name of a method
    KEYBOARD_INTERACTIVE = "keyboard_interactive"
    CERTIFICATE = "certificate"

    @property
    def needs_password(self) -> bool:
        """Whether the secret must hold a password."""
        return self in (self.PASSWORD, self.KEY_AND_PASSWORD, self.KEYBOARD_INTERACTIVE)

    @property
    def needs_key(self) -> bool:
        """Whether the secret must hold a private key."""
        return self in (self.KEY, self.KEY_AND_PASSWORD, self.CERTIFICATE)


@unique
class PublishMode(StrEnum):
    """How a finished upload gets its final name.

    HARDLINK_REMOVE: a second name for the temporary file, which every honest server refuses when the name is
    taken; then the temporary name is removed. RENAME_NOREPLACE: plain rename, only where a probe has seen it
    refuse. DIRECT_WRITE: exclusive creation under the final name, only where a probe has seen it refuse; any
    error after the name was opened leaves the outcome unknown.
    """

    HARDLINK_REMOVE = "hardlink_remove"
    RENAME_NOREPLACE = "rename_noreplace"
    DIRECT_WRITE = "direct_write"


@unique
class OverwriteForm(StrEnum):
    """The atomic overwriting form a recorded agreement may use; never delete and then rename."""

    NONE = "none"
    POSIX_RENAME = "posix_rename"


@unique
class ChecksumAlgorithm(StrEnum):
    """What the server can hash a file with; only the hash recorded at cutoff 2 can be compared."""

    NONE = "none"
    SHA256 = "sha256"


@unique
class AcknowledgmentKind(StrEnum):
    """How the partner shows that it has taken a file."""

    NONE = "none"
    FILE_APPEARS = "file_appears"
    MARKER_DISAPPEARS = "marker_disappears"
    FILE_RENAMED = "file_renamed"


@unique
class AcknowledgmentMeaning(StrEnum):
    """What an acknowledgment says: that the file arrived, or that its contacts were processed."""

    RECEIVED = "received"
    PROCESSED = "processed"


@unique
class LineEnd(StrEnum):
    """The end of a line in the file."""

    LF = "lf"
    CRLF = "crlf"


@unique
class EmptyExport(StrEnum):
    """What happens to an export without a single contact."""

    HOLD = "hold"
    SEND = "send"


@unique
class FilterOperator(StrEnum):
    """How a filter compares a column."""

    EQUALS = "equals"
    DIFFERS = "differs"
    PRESENT = "present"
    ABSENT = "absent"


@unique
class CompanionContent(StrEnum):
    """What a file beside the export holds: nothing, a coreutils checksum line, or counts and hash."""

    EMPTY = "empty"
    SHA256SUM = "sha256sum"
    CONTROL = "control"


@dataclass(frozen=True)
class Endpoint:
    """Where the partner listens. A `directory` endpoint (a mounted share) has no host."""

    kind: EndpointKind = EndpointKind.SFTP
    host: str = ruled(rules.host, default="")
    port: int = ruled(rules.between(1, 65_535), default=22)


@dataclass(frozen=True)
class HostKey:
    """A pinned key of the server, valid from and to a time so that a rotation needs no gap."""

    key: str = ruled(rules.host_key)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source: str = ruled(rules.text(500), default="")

    @property
    def type(self) -> str:
        """The key's type, the first word of its line."""
        return self.key.split()[0]

    @property
    def blob(self) -> bytes:
        """The key's binary form."""
        return rules.key_blob(self.key)

    @property
    def fingerprint(self) -> str:
        """The key's fingerprint, as ssh-keygen prints it."""
        return rules.fingerprint(self.blob)

    def valid_at(self, now: datetime) -> bool:
        """Whether the key may be trusted at `now`."""
        return (self.valid_from is None or self.valid_from <= now) and (self.valid_to is None or now < self.valid_to)


@dataclass(frozen=True)
class Auth:
    """Who signs in, and under which id the secret is kept; the secret itself is never in a contract."""

    user: str = ruled(rules.text(128), default="")
    secret_id: str = ruled(rules.text(200), default="")
    method: AuthMethod = AuthMethod.PASSWORD
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Paths:
    """Where files go and what they are called.

    The final name is `final_prefix` + delivery key + `final_suffix`. A temporary name adds
    `temporary_prefix`, the attempt and `temporary_suffix`; `temporary_directory` (empty: the same one) must
    be on the same file system. `scratch_directory` is agreed with the partner for probes; empty means that
    no probe may write.
    """

    directory: str = ruled(rules.text(1024, 1), rules.directory)
    temporary_directory: str = ruled(rules.directory, default="")
    temporary_prefix: str = ruled(rules.name_part(32), default=".")
    temporary_suffix: str = ruled(rules.name_part(32), default=".part")
    final_prefix: str = ruled(rules.name_part(64), default="contacts-")
    final_suffix: str = ruled(rules.name_part(32), default=".csv")
    scratch_directory: str = ruled(rules.directory, default="")


@dataclass(frozen=True)
class Probed:
    """What a probe saw on this server; a publish mode that rests on it is refused without it."""

    rename_refuses_existing: bool = False
    link_is_honest: bool = False
    exclusive_create_refuses: bool = False
    server_version: str = ruled(rules.text(255), default="")
    probed_at: datetime | None = None


@dataclass(frozen=True)
class Publish:
    """How the final name comes into being, and by which form an agreed overwrite replaces it."""

    mode: PublishMode = PublishMode.HARDLINK_REMOVE
    overwrite: OverwriteForm = OverwriteForm.NONE
    probed: Probed = field(default_factory=Probed)


@dataclass(frozen=True)
class Permissions:
    """What the partner lets us do besides writing."""

    may_stat: bool = True
    may_list: bool = True
    may_read: bool = False
    may_delete: bool = True


@dataclass(frozen=True)
class Acknowledgment:
    """How, where and until when the partner acknowledges; `suffix` and `prefix` frame the final name."""

    kind: AcknowledgmentKind = AcknowledgmentKind.NONE
    meaning: AcknowledgmentMeaning = AcknowledgmentMeaning.RECEIVED
    directory: str = ruled(rules.directory, default="")
    prefix: str = ruled(rules.name_part(64), default="")
    suffix: str = ruled(rules.name_part(64), default="")
    negative_suffix: str = ruled(rules.name_part(64), default="")
    due_seconds: int = ruled(rules.between(60, 30 * _DAY), default=_DAY)
    poll_seconds: int = ruled(rules.between(10, _DAY), default=300)
    completes_automatically: bool = False


@dataclass(frozen=True)
class Verification:
    """What this partner's contract accepts as proof of a delivery, and what it lets us check.

    `name_and_size_identifies`: name and size alone tell whose file it is. `publish_reply_is_proof`: the
    server's answer to the publish request suffices where nothing can be looked at afterwards (a write-only
    box, a partner that takes files at once). `read_back`: the content is downloaded again and hashed.
    """

    name_and_size_identifies: bool = False
    checksum: ChecksumAlgorithm = ChecksumAlgorithm.NONE
    acknowledgment: Acknowledgment = field(default_factory=Acknowledgment)
    publish_reply_is_proof: bool = False
    read_back: bool = False


@dataclass(frozen=True)
class Companion:
    """A file sent beside the export (a side-car before a marker): its content, and the end of its name."""

    suffix: str = ruled(rules.text(64, 1), rules.name_part(64))
    content: CompanionContent = CompanionContent.EMPTY


@dataclass(frozen=True)
class Filter:
    """Which contacts are exported: a column of the source compared with a value."""

    column: str = ruled(rules.text(63, 1))
    operator: FilterOperator = FilterOperator.EQUALS
    value: str = ruled(rules.text(200), default="")


@dataclass(frozen=True)
class Payload:
    """What the file holds: columns in order (empty: the source's own), dialect, and who is in it."""

    columns: tuple[str, ...] = ruled(rules.each(rules.text(63, 1), 200), rules.distinct, default=())
    header: bool = True
    delimiter: str = ruled(rules.one_of(",", ";", "\t", "|"), default=",")
    encoding: str = ruled(rules.one_of("utf-8", "utf-8-sig", "latin-1", "windows-1252"), default="utf-8")
    line_end: LineEnd = LineEnd.LF
    empty_export: EmptyExport = EmptyExport.HOLD
    spreadsheet_safe: bool = False
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Bounds on what one partner costs, each within what a worker can bear.

    `attempt_deadline_seconds` bounds a whole delivery from its first look to its last; a watchdog closes the
    connection at its end. `idle_timeout_seconds` bounds one wait for one answer.
    """

    max_connections: int = ruled(rules.between(1, 64), default=4)
    max_running: int | None = ruled(rules.between_or_none(1, 1_000), default=None)
    rate_per_minute: int | None = ruled(rules.between_or_none(1, 6_000), default=None)
    attempt_deadline_seconds: int = ruled(rules.between(10, _DAY), default=3_600)
    connect_timeout_seconds: int = ruled(rules.between(1, 300), default=30)
    idle_timeout_seconds: int = ruled(rules.between(1, 600), default=60)
    max_outstanding_writes: int = ruled(rules.between(1, 64), default=64)
    request_bytes: int = ruled(rules.between(1_024, LARGEST_REQUEST_BYTES), default=LARGEST_REQUEST_BYTES)


@dataclass(frozen=True)
class Guards:
    """What makes a finished file wait for a person before cutoff 2 (None: this guard is off)."""

    max_rows: int | None = ruled(rules.between_or_none(0, 2_000_000_000), default=None)
    max_bytes: int | None = ruled(rules.between_or_none(1, 2**50), default=None)
    max_change_percent: int | None = ruled(rules.between_or_none(1, 10_000), default=None)


@dataclass(frozen=True)
class People:
    """Whom an operator turns to at the partner: a name with a number or an address, as people write it down.

    `technical` when nobody is let in, told with the hold; `outcomes` when only the partner can know whether a file
    arrived, told with the attempt's end.
    """

    technical: str = ruled(rules.text(200), default="")
    outcomes: str = ruled(rules.text(200), default="")


@dataclass(frozen=True)
class Retention:
    """How long files and evidence live, and whether we may remove our own leftovers at the partner."""

    partner_days: int | None = ruled(rules.between_or_none(1, 3_650), default=None)
    evidence_days: int = ruled(rules.between(30, 36_500), default=3_650)
    may_remove_leftovers: bool = False
    leftover_age_seconds: int = ruled(rules.between(3_600, 30 * _DAY), default=_DAY)
