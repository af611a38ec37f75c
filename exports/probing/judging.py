"""From what a probe found to the publish mode it proposes, and what speaks against each of the others. Pure (I8).

A mode is race-free only where two deliveries to one name can never both succeed. Trying cannot prove that: a server
that looks first and renames then refuses a taken name a thousand times and loses a file in the next race. So a
refusal that was seen is needed and not enough:

- a link is one step by its nature; it is believed where it refused, did what it said, and never lost a race;
- a plain rename is believed only of OpenSSH's server where links work, because that server renames by linking;
- exclusive creation is believed where it refused and never lost a race.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from exports.contracts import PublishMode

if TYPE_CHECKING:
    from exports.probing.report import Report

RENAMES_BY_LINKING: Final = ("SSH-2.0-OpenSSH_",)
"""How servers introduce themselves whose plain rename is a link and the removal of the old name."""

ONLY_LOOKS_FIRST: Final = (
    "A plain rename refused a taken name, but this server is not known to do so in one step: it may look first and"
    " rename then, and of two deliveries in one moment both would succeed and one file be lost."
)

NO_SAFE_WAY: Final = (
    "This server offers no way to publish without the risk of replacing a file: neither link, nor plain rename, nor"
    " exclusive creation can be relied upon. The partner has to change the server or its settings."
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The mode to agree on, None where there is none, and why: first for it, then against the better ones."""

    mode: PublishMode | None
    why: tuple[str, ...]


def propose(report: Report) -> Proposal:
    """Return the safest mode that this probe admits, in the order link, rename, direct write."""
    if report.trouble:
        return Proposal(None, (report.trouble,))
    against: list[str] = []
    for mode in (PublishMode.HARDLINK_REMOVE, PublishMode.RENAME_NOREPLACE, PublishMode.DIRECT_WRITE):
        objections = objections_to(mode, report)
        if not objections:
            return Proposal(mode, (_FOR[mode], *against))
        against += objections
    return Proposal(None, (NO_SAFE_WAY, *against))


def objections_to(mode: PublishMode, report: Report) -> list[str]:
    """Return what the probe shows against publishing by this mode; empty when it admits it."""
    match mode:
        case PublishMode.HARDLINK_REMOVE:
            return _against_link(report)
        case PublishMode.RENAME_NOREPLACE:
            return _against_rename(report)
        case PublishMode.DIRECT_WRITE:
            return _against_direct_write(report)
    assert_never(mode)


_FOR: Final = {
    PublishMode.HARDLINK_REMOVE: "A link refuses a taken name in one step, does what it says, and the file stays when"
    " its first name is removed.",
    PublishMode.RENAME_NOREPLACE: "Plain rename refused a taken name, and this server renames by linking, in one step.",
    PublishMode.DIRECT_WRITE: "Exclusive creation refuses a taken name. The partner sees the file grow, and after any"
    " error past its opening nobody knows what was delivered: agree on this only with the partner's word.",
}


def _against_link(report: Report) -> list[str]:
    found = report.findings
    seen = (found.link_works, found.link_refuses_existing)
    said = _refuses("A link", seen, found.races.link_double_wins)
    if found.link_works and not found.may_remove:
        said.append("After a link the first name would stay: removing is not permitted.")
    elif found.link_works and found.link_remains is False:
        said.append("A linked file does not outlast its first name.")
    return said


def _against_rename(report: Report) -> list[str]:
    found = report.findings
    seen = (found.rename_works, found.rename_refuses_existing)
    said = _refuses("A plain rename", seen, found.races.rename_double_wins)
    if said:
        return said
    if not report.server.startswith(RENAMES_BY_LINKING) or not found.link_works:
        return [ONLY_LOOKS_FIRST]
    return []


def _against_direct_write(report: Report) -> list[str]:
    found = report.findings
    # The first file was created, or the probe would have ended in trouble: creation works.
    return _refuses("Exclusive creation", (True, found.create_refuses_existing), found.races.create_double_wins)


def _refuses(what: str, seen: tuple[bool | None, bool | None], double_wins: int) -> list[str]:
    """Return why a form, seen to work and to refuse or not, cannot be relied upon to refuse a taken name."""
    works, refuses = seen
    if not works:
        return [f"{what} is not to be had here, or nothing shows that it does what it answers."]
    if refuses is False:
        return [f"{what} replaces what stands under a taken name, or does not refuse it."]
    if refuses is None:
        return [f"Whether {_small(what)} refuses a taken name was not seen."]
    if double_wins:
        return [f"{what} lost a race: {double_wins} times two deliveries to one name were both told yes."]
    return []


def _small(what: str) -> str:
    return what[:1].lower() + what[1:]
