"""What a probe tells: its steps with their timings, what it learned of the server, and what it left behind. Pure.

None in a finding means that it was not learned: the step was not reached, or the server lets nobody look.
"""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Any, Final, Self

from exports.errors import ExportError
from exports.typed_json import Problems, from_plain, to_plain

FORMAT: Final = 1
"""Version of the JSON form; a reader refuses a form it does not know instead of guessing."""


class ReportError(ExportError):
    """The JSON is no report of a probe that this release can read."""


@unique
class StepName(StrEnum):
    """The steps of a probe, in their order."""

    CONNECT = "connect"
    HOST_KEY = "host_key"
    SIGN_IN = "sign_in"
    SFTP = "sftp"
    SCRATCH = "scratch"
    CREATE = "create"
    WRITE = "write"
    FLUSH = "flush"
    CLOSE = "close"
    SIZE = "size"
    LIST = "list"
    READ = "read"
    HASH = "hash"
    EXCLUSIVE = "exclusive"
    REMOVE = "remove"
    RENAME = "rename"
    RENAME_TAKEN = "rename_taken"
    LINK = "link"
    LINK_TAKEN = "link_taken"
    LINK_REMAINS = "link_remains"
    REPLACE = "replace"
    RACE = "race"
    CLEAN_UP = "clean_up"


TITLES: Final[dict[StepName, str]] = {
    StepName.CONNECT: "Find the server and connect",
    StepName.HOST_KEY: "Compare its host key with the pinned ones",
    StepName.SIGN_IN: "Sign in",
    StepName.SFTP: "Open SFTP and read what it offers",
    StepName.SCRATCH: "Find the agreed scratch folder",
    StepName.CREATE: "Create a file that must be new",
    StepName.WRITE: "Write it",
    StepName.FLUSH: "Have it reach the disk",
    StepName.CLOSE: "Close it",
    StepName.SIZE: "Read its size back",
    StepName.EXCLUSIVE: "Create it again, which must be refused",
    StepName.LIST: "List the folder",
    StepName.READ: "Read it back",
    StepName.HASH: "Ask the server for its SHA-256",
    StepName.RENAME: "Rename it to a free name",
    StepName.RENAME_TAKEN: "Rename it to a taken name, which must be refused",
    StepName.LINK: "Link it to a free name",
    StepName.LINK_TAKEN: "Link it to a taken name, which must be refused",
    StepName.LINK_REMAINS: "Remove the first name; the second must stay",
    StepName.REPLACE: "Replace a file in one step (posix-rename)",
    StepName.REMOVE: "Remove a file",
    StepName.RACE: "Let two connections publish one name at once",
    StepName.CLEAN_UP: "Remove what the probe made",
}
"""What a person reads for each step."""


@unique
class Outcome(StrEnum):
    """How a step ended: as a delivery would wish, otherwise, without an answer, or not tried."""

    YES = "yes"
    NO = "no"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Step:
    """One step: how it ended, in words, and how long it took in milliseconds."""

    name: StepName
    outcome: Outcome
    words: str = ""
    took_ms: int = 0

    @property
    def title(self) -> str:
        """What a person reads."""
        return TITLES[self.name]


@dataclass(frozen=True)
class Races:
    """How often two connections published one name at once, and how often both were told yes."""

    rename_pairs: int = 0
    rename_double_wins: int = 0
    link_pairs: int = 0
    link_double_wins: int = 0
    create_pairs: int = 0
    create_double_wins: int = 0


@dataclass(frozen=True)
class Findings:
    """What was learned in the scratch folder. None: not learned."""

    create_refuses_existing: bool | None = None
    rename_works: bool | None = None
    rename_refuses_existing: bool | None = None
    link_works: bool | None = None
    link_refuses_existing: bool | None = None
    link_remains: bool | None = None
    replaces_atomically: bool | None = None
    may_stat: bool | None = None
    may_list: bool | None = None
    may_read: bool | None = None
    may_remove: bool | None = None
    flushes: bool | None = None
    hashes_sha256: bool | None = None
    races: Races = field(default_factory=Races)


@dataclass(frozen=True)
class Report:
    """One probe, whole. `trouble` says in words what ended it early; empty when it ran to its end."""

    server: str = ""
    host_key: str = ""
    extensions: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    findings: Findings = field(default_factory=Findings)
    leftovers: tuple[str, ...] = ()
    trouble: str = ""

    @classmethod
    def from_json(cls, raw: object) -> Self:
        """Read the JSON form; ReportError when it is none of this release's."""
        values = dict(raw) if isinstance(raw, dict) else {}
        problems: Problems = {}
        known = values.pop("format", None) == FORMAT
        report = from_plain(cls, values, problems) if known else None
        if report is None:
            raise ReportError
        return report

    def to_json(self) -> dict[str, Any]:
        """Return the plain values of the JSON form, which `from_json` reads back equal."""
        return {"format": FORMAT, **to_plain(self)}
