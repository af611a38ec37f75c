"""The exports the demo runs, each made to show one outcome. A new one is a new entry in SAMPLES."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.devstack.demo.api import Api
from config.devstack.demo.plan import ACCOUNT_OF, AD_PLATFORM, CLIENT_OF, FORMER_PARTNER, MAILING_HOUSE, NEW_PARTNER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Row = dict[str, Any]
Files = dict[str, "Path"]


@dataclass(frozen=True)
class Scene:
    """What a sample is made with: the API by client, the seeded destinations, the partner's directories."""

    apis: dict[str, Api]
    destination_ids: dict[str, str]
    partner_files: Path


@dataclass(frozen=True)
class Sample:
    """One export: what is asked of the API, the status it must reach, and what must then lie at the partner.

    `judge` gets the final row, what lies in the destination's directory at the partner, and the rows of all
    exports to it; it returns what it saw and raises Mismatch if that is not what the sample is made to show.
    """

    name: str
    tenant: str
    destination: str
    status: str
    judge: Callable[[Row, Files, list[Row]], str]
    ask: Callable[[Api, str], Row] = Api.create
    within_seconds: float = 60  # the first export of a process takes two or three

    def make(self, scene: Scene) -> Row:
        """Ask for the export over REST, and for whatever else belongs to the sample; return its row."""
        return self.ask(self.api(scene), scene.destination_ids[self.destination])

    def api(self, scene: Scene) -> Api:
        """Return the API as the tenant's client system sees it."""
        return scene.apis[CLIENT_OF[self.tenant]]

    def look(self, scene: Scene) -> tuple[Files, list[Row]]:
        """Return what lies at the partner, by name, and the rows of all exports to it."""
        directory = scene.partner_files / ACCOUNT_OF[self.destination]
        files = {file.name: file for file in directory.iterdir() if file.is_file()}
        return files, self.api(scene).all_to(scene.destination_ids[self.destination])


class Mismatch(Exception):  # noqa: N818 - a finding of the demo, shown in its table
    """What was found is not what the sample is made to show."""


def exactly_one_file_with_the_recorded_hash(row: Row, files: Files, rows: list[Row]) -> str:
    """Demand the file of the row and no other trace of it, its bytes those recorded at cutoff 2."""
    name = row["expected_file_name"]
    _refuse_strangers(files, rows)
    if (found := [file for file in files if name in file]) != [name]:
        raise Mismatch(f"expected {name} at the partner, found {found or 'nothing'}")
    content = files[name].read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if (digest, len(content)) != (row["expected_file_sha256"], row["expected_file_bytes"]):
        raise Mismatch(f"the file at the partner is not the one recorded: {len(content)} bytes, {digest}")
    return f"{name}\n{len(content):,} bytes, SHA-256 {digest[:16]}… as recorded"


def nothing_sent(row: Row, files: Files, rows: list[Row]) -> str:
    """Demand that the export has left no trace at the partner."""
    _refuse_strangers(files, rows)
    if found := [file for file in files if row["delivery_key"] in file]:
        raise Mismatch(f"nothing should have been sent, found {found}")
    return "nothing was sent"


def _refuse_strangers(files: Files, rows: list[Row]) -> None:
    """Demand that everything at the partner is the file, or an interrupted part, of an export that has a row."""
    names = [row["expected_file_name"] for row in rows if row["expected_file_name"]]
    if strangers := [file for file in files if not any(name in file for name in names)]:
        raise Mismatch(f"nobody sent {strangers}")


def cancel_while_it_waits(api: Api, destination_id: str) -> Row:
    """Create an export that no policy lets start, and cancel it."""
    row = api.create(destination_id)
    api.cancel(row["id"])
    return row


SAMPLES: tuple[Sample, ...] = (
    Sample(
        "contacts to a mailing house, signed in by password",
        "nordwind",
        MAILING_HOUSE,
        "Completed",
        exactly_one_file_with_the_recorded_hash,
    ),
    Sample(
        "another tenant, chosen columns, signed in by key",
        "sonnenhof",
        AD_PLATFORM,
        "Completed",
        exactly_one_file_with_the_recorded_hash,
    ),
    Sample(
        "to a partner whose destination is disabled",
        "nordwind",
        FORMER_PARTNER,
        "Rejected",
        nothing_sent,
    ),
    Sample(
        "cancelled while it waits for a contract",
        "sonnenhof",
        NEW_PARTNER,
        "Canceled",
        nothing_sent,
        cancel_while_it_waits,
    ),
)
