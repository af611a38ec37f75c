"""One probe from the first connection to the last removal: always a report, whatever the world does.

Everything is done under a contract whose only directory is the agreed scratch folder, so that no request of a
probe can name anything outside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from exports.contracts import Contract, EndpointKind, Permissions, Verification
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect
from exports.probing.folder import Folder
from exports.probing.racing import Racing, judged
from exports.probing.report import Report, StepName
from exports.probing.steps import Ended, Said, Steps, failed, no, skipped, yes
from exports.probing.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.destinations.protocol import Passed, Session

    Open = Callable[[Contract, Passed], Session]

RUN_SECONDS: Final = 120.0
"""A probe breaks its connections off after this: a slow partner needs less for some five hundred small requests."""

CLEAN_UP_SECONDS: Final = 30.0
"""Removing gets so long of its own, on a connection of its own where the first one was lost."""

NO_SCRATCH: Final = (
    "The contract agrees on no scratch folder, so nothing was tried there and no publish mode is proven."
)

_STAGES: Final = (StepName.CONNECT, StepName.HOST_KEY, StepName.SIGN_IN, StepName.SFTP)
_STAGE_OF: Final = {
    ConnectTrouble.NO_VALID_HOST_KEY: StepName.HOST_KEY,
    ConnectTrouble.HOST_KEY_CHANGED: StepName.HOST_KEY,
    ConnectTrouble.NO_COMMON_ALGORITHM: StepName.HOST_KEY,
    ConnectTrouble.SECRET_UNUSABLE: StepName.SIGN_IN,
}
"""Troubles whose step is not simply the first that was not got through."""


def try_destination(probe_id: str, contract: Contract, open_session: Open) -> Report:
    """Try a destination; `open_session` may raise CouldNotConnect and nothing else."""
    return Attempt(probe_id, contract, open_session).run()


class Attempt:
    """One probe under way."""

    def __init__(self, probe_id: str, contract: Contract, open_session: Open) -> None:
        self._contract: Final = within_scratch(contract)
        self._agreed: Final = bool(contract.paths.scratch_directory)
        self._open: Final = open_session
        self._probe_id: Final = probe_id
        self._steps: Final = Steps()

    def run(self) -> Report:
        """Connect, try, clean up, and tell."""
        try:
            session = self._open(self._contract, self._steps.passed)
        except CouldNotConnect as trouble:
            return self._not_connected(trouble)
        try:
            return self._on(session)
        finally:
            session.close()

    def _not_connected(self, trouble: CouldNotConnect) -> Report:
        done = len(self._steps.done)
        stage = _STAGE_OF.get(trouble.kind, _STAGES[min(done, len(_STAGES) - 1)])
        self._steps.stopped_at(stage, trouble.words)
        return Report(steps=tuple(self._steps.done), trouble=f"{_sentence(trouble.words)}")

    def _on(self, session: Session) -> Report:
        session.set_deadline(RUN_SECONDS)
        self._tell(session)
        scratch = session.scratch()
        report = Report(session.server, session.host_key, scratch.extensions)
        if not self._agreed:
            self._steps.note(StepName.SCRATCH, skipped(NO_SCRATCH), 0.0)
            return replace(report, steps=tuple(self._steps.done), trouble=NO_SCRATCH)
        folder = Folder(scratch, self._probe_id)
        trouble = self._try(session, folder)
        leftovers = self._clean_up(session, folder)
        steps, findings = tuple(self._steps.done), self._steps.findings
        return replace(report, steps=steps, findings=findings, leftovers=leftovers, trouble=trouble)

    def _tell(self, session: Session) -> None:
        endpoint = self._contract.endpoint
        where = "the directory" if endpoint.kind is EndpointKind.DIRECTORY else f"{endpoint.host}, port {endpoint.port}"
        self._steps.tell(StepName.CONNECT, where)
        self._steps.tell(StepName.HOST_KEY, session.host_key)
        self._steps.tell(StepName.SIGN_IN, f"as {self._contract.auth.user}")
        offered = ", ".join(session.scratch().extensions) or "nothing beyond the protocol"
        self._steps.tell(StepName.SFTP, f"{session.server}; it offers {offered}")

    def _try(self, session: Session, folder: Folder) -> str:
        """Try everything; the words of what ended it early, if anything did."""
        self._steps.is_broken = lambda: session.doubtful
        try:
            Trials(folder, self._steps).run()
            self._steps.take(StepName.RACE, lambda: self._race(folder))
        except Ended as ended:
            return ended.words
        return ""

    def _race(self, folder: Folder) -> Said:
        findings = self._steps.findings
        if self._contract.limits.max_connections == 1:
            return skipped("the contract allows one connection at a time")
        if not findings.may_remove:
            return skipped("nothing may be removed, and races leave many files")
        try:
            rival = self._open(self._contract, lambda _stage: None)
        except CouldNotConnect as trouble:
            return skipped(f"no second connection: {trouble.words}")
        try:
            rival.set_deadline(RUN_SECONDS)
            self._steps.races = Racing(folder, rival.scratch()).run(findings)
        finally:
            rival.close()
        return judged(self._steps.races)

    def _clean_up(self, session: Session, folder: Folder) -> tuple[str, ...]:
        """Remove what was made, on a fresh connection if the first was lost; return what may be left."""
        self._steps.is_broken = bool
        left: list[str] = []
        self._steps.take(StepName.CLEAN_UP, lambda: self._removed(session, folder, left))
        return tuple(left)

    def _removed(self, session: Session, folder: Folder, left: list[str]) -> Said:
        try:
            usable = self._open(self._contract, lambda _stage: None) if session.doubtful else session
        except CouldNotConnect as trouble:
            left += folder.made
            return failed(f"the connection was lost and not found again: {trouble.words}")
        try:
            usable.set_deadline(CLEAN_UP_SECONDS)
            folder.scratch = usable.scratch()
            left += folder.clean_up()
            earlier = folder.earlier()
        finally:
            usable.close()
        return _cleaned(len(left), earlier)


def _cleaned(left: int, earlier: int) -> Said:
    others = f"; {earlier} files of earlier probes lie there" if earlier else ""
    return no(f"{left} files may be left{others}") if left else yes(f"nothing is left{others}")


def within_scratch(contract: Contract) -> Contract:
    """Return the contract with the scratch folder as its only directory, where everything may be tried.

    Without an agreed folder it keeps its directory, and nothing may be tried in it.
    """
    paths = contract.paths
    if not paths.scratch_directory:
        return contract
    return replace(
        contract,
        paths=replace(paths, directory=paths.scratch_directory, temporary_directory=""),
        permissions=Permissions(may_stat=True, may_list=True, may_read=True, may_delete=True),
        verification=Verification(),
        companions=(),
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].rstrip(".") + "."
