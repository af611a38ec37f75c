"""Partners as the console's tests set them up: the addresses of their screens, and contracts to type in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from exports.contracts import (
    Acknowledgment,
    AcknowledgmentKind,
    Auth,
    AuthMethod,
    ChecksumAlgorithm,
    Companion,
    CompanionContent,
    Contract,
    EmptyExport,
    Endpoint,
    Filter,
    FilterOperator,
    Guards,
    HostKey,
    Limits,
    LineEnd,
    OverwriteForm,
    Paths,
    Payload,
    Permissions,
    Publish,
    Retention,
    Verification,
)
from tests.console.pages import fields_of, fill, text_of
from tests.recovery.lives import NOBODYS_KEY
from tests.test_contracts import HOST_KEY

if TYPE_CHECKING:
    from exports.models import Destination, DestinationContract
    from tests.routing import RoleClient

PLACES = "/admin/exports/destination/"
VERSIONS = "/admin/exports/destinationcontract/"
PASSWORD = "a partner's password that nobody sees again"
GROUP = "Export administrators"
FINGERPRINT = "SHA256:45TR4S+ZjhD14cS5SYgpfLPb3/UxbDKE1RqX0PoDZIM"
"""Of HOST_KEY, as ssh-keygen prints it."""


def screen(destination: Destination, name: str) -> str:
    return f"{PLACES}{destination.id}/{name}/"


def version_screen(contract: DestinationContract, name: str) -> str:
    return f"{VERSIONS}{contract.id}/{name}/"


def write(browser: RoleClient, destination: Destination, **answers: str) -> Any:
    """Fill the contract in, check it, and propose it."""
    checked = fill(browser, screen(destination, "contract"), **answers)
    assert "Read it once more before it counts" in text_of(checked), text_of(checked)
    return browser.post(screen(destination, "contract"), {**fields_of(checked), "confirmed": "yes"})


RICH = Contract(
    endpoint=Endpoint(host="sftp.example.org", port=2222),
    paths=Paths("/in", "/aside", "tmp-", ".x", "c-", ".txt", "/scratch"),
    auth=Auth("us", "", AuthMethod.KEY, datetime(2031, 1, 31, 12, 30, 15, tzinfo=UTC)),
    host_keys=(HostKey(HOST_KEY, datetime(2030, 1, 1, tzinfo=UTC), None, "a letter"), HostKey(NOBODYS_KEY)),
    publish=Publish(overwrite=OverwriteForm.POSIX_RENAME),
    permissions=Permissions(may_read=True),
    verification=Verification(
        checksum=ChecksumAlgorithm.SHA256,
        acknowledgment=Acknowledgment(AcknowledgmentKind.FILE_APPEARS, suffix=".ok", negative_suffix=".no"),
        read_back=True,
    ),
    companions=(Companion(".sha256", CompanionContent.SHA256SUM), Companion(".done")),
    payload=Payload(
        columns=("email", "phone"),
        delimiter="\t",
        encoding="utf-8-sig",
        line_end=LineEnd.CRLF,
        empty_export=EmptyExport.SEND,
        spreadsheet_safe=True,
        filters=(Filter("country", FilterOperator.DIFFERS, "NL"), Filter("email", FilterOperator.PRESENT)),
    ),
    limits=Limits(max_running=2, rate_per_minute=10),
    guards=Guards(max_change_percent=50),
    retention=Retention(partner_days=7, may_remove_leftovers=True),
)
"""A contract that makes use of everything."""

FIRST = {
    "endpoint.host": "sftp.example.org",
    "auth.user": "us",
    "paths.directory": "/in",
    "host_keys.0.key": HOST_KEY,
    "host_keys.0.source": "their letter",
    "reason": "agreed by mail",
}
