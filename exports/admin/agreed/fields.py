"""What a contract's fields are called on a page, grouped as an operator thinks of them; nothing here decides anything.

A path names a field of exports.contracts.Contract; a test holds that each has its words here, and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from exports.contracts import (
    AcknowledgmentKind,
    AcknowledgmentMeaning,
    AuthMethod,
    ChecksumAlgorithm,
    CompanionContent,
    EmptyExport,
    EndpointKind,
    FilterOperator,
    LineEnd,
    OverwriteForm,
    PublishMode,
)


@dataclass(frozen=True, slots=True)
class Words:
    """One field: the path to it, its label, and what else a person has to know."""

    path: str
    label: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of records in the contract: what one is called, and the fields of one."""

    path: str
    one: str
    hint: str
    fields: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One section of the form; `lead` goes before its labels wherever they stand outside of it."""

    title: str
    hint: str
    parts: tuple[Words | Rows, ...]
    lead: str = ""


SERVER_SET: Final = frozenset({"auth.secret_id", "publish.probed"})
"""Never typed in: which credential it is, and what a test of the connection saw."""

_DELIMITERS = ((",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar"))
_ENCODINGS = (
    ("utf-8", "UTF-8"),
    ("utf-8-sig", "UTF-8 with a byte order mark"),
    ("latin-1", "ISO 8859-1"),
    ("windows-1252", "Windows-1252"),
)

GROUPS: Final = (
    Group(
        "Endpoint",
        "",
        (
            Words("endpoint.kind", "How it is reached"),
            Words("endpoint.host", "Host", "A name or an address. Left empty for a mounted share."),
            Words("endpoint.port", "Port"),
        ),
    ),
    Group(
        "Host keys",
        "No key is trusted on first use. During a rotation, pin the old and the new one.",
        (
            Rows(
                "host_keys",
                "Host key",
                "Empty the key to unpin it.",
                (
                    Words("key", "Public key", "One line: its type, a space, and base64."),
                    Words("valid_from", "Valid from", "In UTC."),
                    Words("valid_to", "Valid to", "In UTC."),
                    Words("source", "Confirmed by", "Who at the partner told it, and how."),
                ),
            ),
        ),
    ),
    Group(
        "Signing in",
        "The credential itself is stored on a page of its own and never shown again.",
        (
            Words("auth.user", "User"),
            Words("auth.method", "Method"),
            Words("auth.expires_at", "The credential ends", "In UTC, where the partner says so."),
        ),
    ),
    Group(
        "Folders and names",
        "The final name is the beginning, the delivery key and the end; nothing else in it varies.",
        (
            Words("paths.directory", "Folder"),
            Words("paths.temporary_directory", "Folder for temporary files", "Empty: the same. On the same disk."),
            Words("paths.temporary_prefix", "Temporary names begin with"),
            Words("paths.temporary_suffix", "Temporary names end with"),
            Words("paths.final_prefix", "Names begin with"),
            Words("paths.final_suffix", "Names end with"),
            Words(
                "paths.scratch_directory", "Folder for tests", "Agreed with the partner. Empty: a test writes nothing."
            ),
        ),
    ),
    Group(
        "Publishing",
        "How a finished upload gets its final name. What a test of the connection saw is kept with the contract.",
        (
            Words("publish.mode", "Way to publish"),
            Words("publish.overwrite", "An agreed overwrite", "Used only by a replacement that names an agreement."),
        ),
    ),
    Group(
        "What may be done there",
        "Besides writing.",
        (
            Words("permissions.may_stat", "Look at a name"),
            Words("permissions.may_list", "List the folder"),
            Words("permissions.may_read", "Read files back"),
            Words("permissions.may_delete", "Delete files of our own"),
            Words("consumes_at_once", "The partner takes files away as soon as they appear"),
        ),
    ),
    Group(
        "Proof of a delivery",
        "What this contract accepts as proof; without any of it, an interrupted delivery stays unknown.",
        (
            Words("verification.read_back", "Read the file back and compare it"),
            Words("verification.checksum", "Hash that the server tells"),
            Words("verification.name_and_size_identifies", "Name and size tell whose file it is"),
            Words("verification.publish_reply_is_proof", "The server's answer to publishing is proof enough"),
        ),
    ),
    Group(
        "Acknowledgment",
        "How the partner shows that it has taken a file. Its name is framed by what is given here.",
        (
            Words("verification.acknowledgment.kind", "Kind"),
            Words("verification.acknowledgment.meaning", "It means"),
            Words("verification.acknowledgment.directory", "In folder", "Empty: beside the file."),
            Words("verification.acknowledgment.prefix", "Its name begins with"),
            Words("verification.acknowledgment.suffix", "Its name ends with"),
            Words("verification.acknowledgment.negative_suffix", "A refusal ends with"),
            Words("verification.acknowledgment.due_seconds", "Due within, in seconds"),
            Words("verification.acknowledgment.poll_seconds", "Looked for every, in seconds"),
            Words(
                "verification.acknowledgment.completes_automatically",
                "It settles an unknown outcome without a person",
            ),
        ),
        lead="Acknowledgment: ",
    ),
    Group(
        "Files beside the export",
        "Sent with every export, in this order.",
        (
            Rows(
                "companions",
                "File",
                "Empty its ending to leave it out.",
                (Words("suffix", "Its name ends with"), Words("content", "It holds")),
            ),
        ),
    ),
    Group(
        "Payload",
        "",
        (
            Words("payload.columns", "Columns", "One a line, in order. Empty: the source's own."),
            Words("payload.header", "A first line with their names"),
            Words("payload.delimiter", "Between values", choices=_DELIMITERS),
            Words("payload.encoding", "Encoding", choices=_ENCODINGS),
            Words("payload.line_end", "End of a line"),
            Words("payload.empty_export", "Without a single contact"),
            Words("payload.spreadsheet_safe", "Safe to open in a spreadsheet", "Formulas are made text."),
            Rows(
                "payload.filters",
                "Only contacts where",
                "Empty the column to leave it out.",
                (Words("column", "Column"), Words("operator", "Comparison"), Words("value", "Value")),
            ),
        ),
    ),
    Group(
        "Limits",
        "Bounds on what this partner costs.",
        (
            Words("limits.max_running", "Exports under way at once", "Empty: no bound."),
            Words("limits.rate_per_minute", "Deliveries a minute", "Empty: no bound."),
            Words("limits.max_connections", "Connections at once, of one worker"),
            Words("limits.attempt_deadline_seconds", "A delivery may take, in seconds"),
            Words("limits.connect_timeout_seconds", "Connecting may take, in seconds"),
            Words("limits.idle_timeout_seconds", "An answer may take, in seconds"),
            Words("limits.max_outstanding_writes", "Unanswered writes at once"),
            Words("limits.request_bytes", "Bytes in one write"),
        ),
    ),
    Group(
        "Guards",
        "A finished file outside of these waits for an operator before it is delivered.",
        (
            Words("guards.max_rows", "Most contacts in a file", "Empty: no bound."),
            Words("guards.max_bytes", "Most bytes in a file", "Empty: no bound. What the partner takes."),
            Words("guards.max_change_percent", "Most change from the last file, in percent", "Empty: no bound."),
        ),
    ),
    Group(
        "People at the partner",
        "A name with a number or an address. Told with what it concerns.",
        (
            Words("people.technical", "When nobody is let in"),
            Words("people.outcomes", "When only the partner can know whether a file arrived"),
        ),
    ),
    Group(
        "Retention",
        "",
        (
            Words("retention.partner_days", "The partner keeps files for, in days", "Empty: not known."),
            Words("retention.evidence_days", "We keep evidence for, in days"),
            Words("retention.may_remove_leftovers", "We may remove temporary files that we left behind"),
            Words("retention.leftover_age_seconds", "But not before they are this old, in seconds"),
        ),
    ),
)

CHOICES: Final[dict[str, str]] = {
    EndpointKind.SFTP: "SFTP server",
    EndpointKind.DIRECTORY: "mounted share",
    AuthMethod.PASSWORD: "password",
    AuthMethod.KEY: "key",
    AuthMethod.KEY_AND_PASSWORD: "key and password",
    AuthMethod.KEYBOARD_INTERACTIVE: "answers to the server's questions",
    AuthMethod.CERTIFICATE: "key with certificate",
    PublishMode.HARDLINK_REMOVE: "link to the final name, then remove the temporary one",
    PublishMode.RENAME_NOREPLACE: "rename, on a server seen to refuse a taken name",
    PublishMode.DIRECT_WRITE: "write under the final name, on a server seen to refuse a taken one",
    OverwriteForm.NONE: "none",
    OverwriteForm.POSIX_RENAME: "in one step (posix-rename)",
    ChecksumAlgorithm.SHA256: "SHA-256",
    AcknowledgmentKind.FILE_APPEARS: "a file appears",
    AcknowledgmentKind.MARKER_DISAPPEARS: "the file or marker disappears",
    AcknowledgmentKind.FILE_RENAMED: "the file is renamed",
    AcknowledgmentMeaning.RECEIVED: "the file has arrived",
    AcknowledgmentMeaning.PROCESSED: "its contacts were processed",
    LineEnd.LF: "LF",
    LineEnd.CRLF: "CRLF",
    EmptyExport.HOLD: "wait for an operator",
    EmptyExport.SEND: "send it",
    FilterOperator.EQUALS: "is",
    FilterOperator.DIFFERS: "is not",
    FilterOperator.PRESENT: "is given",
    FilterOperator.ABSENT: "is not given",
    CompanionContent.EMPTY: "nothing",
    CompanionContent.SHA256SUM: "a checksum line",
    CompanionContent.CONTROL: "counts and hash",
}
"""What the members of a contract's enums are called; those that share a value share the word."""
