"""The one rule by which a file at the partner is called somebody's.

A name alone identifies nothing, since a replacement shares its original's. A matching checksum does, an
acknowledgment does, and name and size do only where the partner's contract says that they are enough.
A modification time never does. (The reference's rules for an existing final name.)
"""

from dataclasses import dataclass

from exports.evidence.records import Proof
from exports.evidence.sightings import Present, Sighting


@dataclass(frozen=True)
class ExpectedFile:
    """The file an attempt was authorized to deliver: final name, bytes and hash (hex) of cutoff 2."""

    name: str
    size: int
    sha256: str


def identifies(seen: Sighting, expected: ExpectedFile, *, name_and_size_identifies: bool) -> Proof | None:
    """Return by what kind of proof `seen` is `expected` under its own name, or None when it is not known.

    A hash decides alone: one that differs outweighs an equal size, whatever the contract accepts.
    """
    if not isinstance(seen, Present) or not seen.regular:
        return None
    if seen.sha256 is not None:
        return Proof.HASH if seen.sha256.lower() == expected.sha256.lower() else None
    if seen.size == expected.size and name_and_size_identifies:
        return Proof.NAME_AND_SIZE
    return None


def is_originals(
    seen: Sighting,
    original: ExpectedFile | None,
    *,
    name_and_size_identifies: bool,
    original_acknowledged: bool,
) -> Proof | None:
    """Return by what the original's delivery is proven to a replacement that looks at the name they share.

    An acknowledgment tied to the original proves it whatever lies there now: the partner may have taken the
    file away, and sending it again would be the duplicate this rule exists to prevent (I8).
    """
    if original_acknowledged:
        return Proof.ACKNOWLEDGMENT
    if original is None:
        return None
    return identifies(seen, original, name_and_size_identifies=name_and_size_identifies)
