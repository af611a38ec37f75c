"""Files that go along with an export: side-cars first, the marker last, each under its own final name.

They are part of the same delivery. Data without its marker is delivered but not announced, so a companion
that failed is evidence for a person, who may complete it; the data is never sent again for it.
"""

from collections.abc import Iterator
from typing import assert_never

from exports.contracts import Companion, CompanionContent, Contract
from exports.crashpoints import reach
from exports.destinations.protocol import Session
from exports.evidence import Accepted, CompanionAnswered, ExpectedFile


def send_companions(
    session: Session, contract: Contract, delivered: ExpectedFile, *, overwrite: bool
) -> Iterator[CompanionAnswered]:
    """Send every companion in the contract's order, stopping at the first that is not confirmed."""
    for companion in contract.companions:
        name = delivered.name + companion.suffix
        answer = session.put(content_of(companion, delivered), name, overwrite=overwrite)
        reach("delivery.after_companion")
        yield CompanionAnswered(name, answer)
        if not isinstance(answer, Accepted):
            return


def content_of(companion: Companion, delivered: ExpectedFile) -> bytes:
    """Return what stands in a companion file: the same for the same delivery, so it can be sent again."""
    match companion.content:
        case CompanionContent.EMPTY:
            return b""
        case CompanionContent.SHA256SUM:
            return f"{delivered.sha256}  {delivered.name}\n".encode()
        case CompanionContent.CONTROL:
            fields = {"name": delivered.name, "bytes": str(delivered.size), "sha256": delivered.sha256}
            return "".join(f"{key}={value}\n" for key, value in fields.items()).encode()
    assert_never(companion.content)
