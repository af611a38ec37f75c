"""A destination that accepts everything at once and keeps nothing: what is left is the protocol's own cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.destinations.protocol import Uploaded
from exports.evidence import Absent, Accepted, PublishForm
from exports.evidence.sightings import Present

if TYPE_CHECKING:
    from pathlib import Path

    from exports.destinations.protocol import Abandon, Progress
    from exports.evidence import Answer, ExpectedFile, Sighting


class Nowhere:
    """As much of a session (exports.destinations.protocol) as the delivery of one file uses."""

    server = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7"
    host_key = "SHA256:uNiVztksCsDhcc0u9e8BrrJXLnEUcbMuKTbnPmm9Kxk"
    doubtful = False

    def __init__(self, expected: ExpectedFile) -> None:
        self._expected = expected
        self._published = False

    def look(self, name: str) -> Sighting:
        """Show the file once it was published."""
        del name
        return Present(self._expected.size, self._expected.sha256) if self._published else Absent()

    read_back = look

    def upload(self, source: Path, size: int, temporary: str, *, progress: Progress, abandon: Abandon) -> Uploaded:
        """Say that all of it has arrived."""
        del source, temporary, progress, abandon
        return Uploaded(size)

    def publish_form(self, *, overwrite: bool) -> PublishForm:
        """Offer a link, which never overwrites."""
        del overwrite
        return PublishForm.LINK

    def publish(self, temporary: str, final: str, *, overwrite: bool) -> Answer:
        """Accept."""
        del temporary, final, overwrite
        self._published = True
        return Accepted()

    def remove(self, temporary: str) -> Answer:
        """Accept."""
        del temporary
        return Accepted()

    def set_deadline(self, seconds: float | None) -> None:
        """Need no bound: nothing here waits."""
        del seconds
