"""One delivery, past the point of no return, in the one order that makes every interruption readable.

Look at the final name; record it; upload under a temporary name; record that the publish request is about to
be sent; send it once; look again; record that. Both records are committed and confirmed before the next byte
leaves, so that whoever comes later knows from the history alone what this attempt can have done. If a record
cannot be confirmed, nothing further is sent. (The reference: the worker, an existing final name; I6, I8.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from exports.contracts import Contract
from exports.crashpoints import reach
from exports.destinations.companions import send_companions
from exports.destinations.naming import is_plain, temporary_name
from exports.destinations.protocol import Abandon, Progress, Session, Uploaded, never, no_progress
from exports.evidence import (
    Absent,
    Accepted,
    Answer,
    Baseline,
    Evidence,
    ExpectedFile,
    Forbidden,
    NoReply,
    NotSent,
    NotSentReason,
    Outcome,
    Phase,
    Present,
    PublishAnswered,
    PublishForm,
    PublishSent,
    ReadBack,
    TemporaryLeft,
    Unanswered,
    UploadFailed,
)
from exports.verdicts import Asker, Case, JobRole, Start, Verdict, facts_of, is_delivered, judge


class Confirmation(Enum):
    """Whether a piece of evidence is known to be committed."""

    CONFIRMED = auto()
    NOT_CONFIRMED = auto()


Append = Callable[[Evidence], Confirmation]
"""Commits one record of evidence for this attempt and says whether that is certain. Must not raise."""


@dataclass(frozen=True)
class Order:
    """What is to be delivered, and everything the rules for an existing final name need to know.

    `original` and `original_acknowledged` concern a replacement's original; `rivals` are the expected files of
    other jobs authorized under the same name.
    """

    contract: Contract
    attempt_id: str
    source: Path
    expected: ExpectedFile
    role: JobRole = JobRole.ORIGINAL
    original: ExpectedFile | None = None
    original_acknowledged: bool = False
    rivals: tuple[ExpectedFile, ...] = ()

    def __post_init__(self) -> None:
        if not is_plain(self.expected.name):
            raise ValueError("the final name is a function of the delivery key")

    @property
    def temporary(self) -> str:
        """The temporary name of this attempt."""
        return temporary_name(self.contract, self.expected.name, self.attempt_id)

    def case(self, evidence: tuple[Evidence, ...]) -> Case:
        """Return what a verdict is drawn from, given this attempt's evidence so far."""
        return Case(
            contract=self.contract,
            expected=self.expected,
            evidence=evidence,
            role=self.role,
            original=self.original,
            original_acknowledged=self.original_acknowledged,
            rivals=self.rivals,
        )


@dataclass(frozen=True)
class Delivered:
    """How a delivery ended: the verdict, and every record in order, whether its append was confirmed or not."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


def deliver(
    session: Session,
    order: Order,
    append: Append,
    *,
    progress: Progress = no_progress,
    abandon: Abandon = never,
) -> Delivered:
    """Deliver once, or find out why not. Returns for every failure of the world; never sends twice."""
    attempt = _Attempt(session, order, append, progress, abandon)
    attempt.run()
    return attempt.conclude()


def check_name(session: Session, order: Order) -> Verdict | None:
    """Look at the final name during preparation: the verdict that ends the attempt early, or None to go on.

    This look is not the baseline. It only saves an upload's worth of time while a stop can still win.
    """
    baseline = Baseline(session.read_back(order.expected.name))
    reason = _reason_not_to_send(order, baseline)
    return None if reason is None else judge(order.case((baseline, reason)), Asker.WORKER)


def not_connected(order: Order, words: str, append: Append) -> Delivered:
    """Conclude a delivery that was authorized but could not connect: nothing was sent."""
    record = NotSent(NotSentReason.COULD_NOT_CONNECT, words)
    append(record)
    return Delivered(judge(order.case((record,)), Asker.WORKER), (record,))


def _reason_not_to_send(order: Order, baseline: Baseline) -> Evidence | None:
    match facts_of(order.case((baseline,))).start:
        case Start.ORIGINALS:
            return NotSent(NotSentReason.ORIGINAL_FOUND, "the original's own file was found delivered")
        case Start.OCCUPIED:
            return NotSent(NotSentReason.OCCUPIED, "a file stands under the final name")
        case Start.BLIND_ALONE | Start.BLIND_SHARED:
            return _blindness(order, baseline)
        case Start.CLEAR | Start.OVERWRITING:
            return None


def _blindness(order: Order, baseline: Baseline) -> Evidence | None:
    """Return why a name of which nothing is known may not be written; only a contract can allow it."""
    match baseline.sighting:
        case Forbidden() if order.contract.baseline_may_be_forbidden:
            return None
        case Forbidden() as seen:
            return NotSent(NotSentReason.BASELINE_UNKNOWN, seen.text or "looking is forbidden")
        case Unanswered() as seen:
            return UploadFailed(Phase.LOOK, seen.trouble, seen.code, seen.text)
        case Absent() | Present():
            raise AssertionError("a baseline that was answered is not blind")


class _Attempt:
    """The state of one delivery: what has been recorded, and nothing else."""

    def __init__(self, session: Session, order: Order, append: Append, progress: Progress, abandon: Abandon) -> None:
        self._session: Final = session
        self._order: Final = order
        self._append: Final = append
        self._progress: Final = progress
        self._abandon: Final = abandon
        self._evidence: list[Evidence] = []

    def run(self) -> None:
        """Take the steps up to the first that ends the attempt, within the contract's deadline."""
        self._session.set_deadline(self._order.contract.limits.attempt_deadline_seconds)
        baseline = self._baseline()
        if baseline is None:
            return
        overwrite = isinstance(baseline.sighting, Present)
        match self._session.publish_form(overwrite=overwrite):
            case None:
                words = "the contract names no atomic overwriting form"
                self._record(NotSent(NotSentReason.NO_OVERWRITE_FORM, words))
            case PublishForm.DIRECT_WRITE:
                self._write_directly()
            case form:
                if self._upload():
                    self._publish(form, overwrite=overwrite)

    def conclude(self) -> Delivered:
        """Draw the verdict from all that was seen, and record it."""
        verdict = judge(self._order.case(tuple(self._evidence)), Asker.WORKER)
        self._record(Outcome(verdict.conclusion, verdict.proof, verdict.reason))
        return Delivered(verdict, tuple(self._evidence))

    def _baseline(self) -> Baseline | None:
        """Record what stands under the final name; None when nothing may be sent after it."""
        reach("delivery.before_look")
        seen = self._session.read_back(self._order.expected.name)
        baseline = Baseline(seen, self._session.server, self._session.host_key)
        confirmed = self._record(baseline)
        reach("delivery.after_baseline")
        reason = _reason_not_to_send(self._order, baseline)
        if reason is None and not confirmed:
            reason = NotSent(NotSentReason.APPEND_NOT_CONFIRMED, "the baseline could not be recorded")
        if reason is not None:
            self._record(reason)
            return None
        return baseline

    def _upload(self) -> bool:
        """Bring the file under its temporary name; whether it stands there complete."""
        reach("delivery.before_upload")
        done = self._session.upload(
            self._order.source,
            self._order.expected.size,
            self._order.temporary,
            progress=self._progress,
            abandon=self._abandon,
        )
        reach("delivery.after_upload")
        if isinstance(done, Uploaded):
            return True
        self._record(done)
        self._clean_up()
        return False

    def _publish(self, form: PublishForm, *, overwrite: bool) -> None:
        """Send the one request that gives the file its final name, once it is announced."""
        if self._announce(form):
            reach("delivery.before_publish")
            final = self._order.expected.name
            answer = self._session.publish(self._order.temporary, final, overwrite=overwrite)
            reach("delivery.after_publish")
            self._follow(answer, overwrite=overwrite)
            self._clean_up_after(form, answer)

    def _write_directly(self) -> None:
        """Publish by writing in place: from the first byte on, every failure leaves the outcome unknown."""
        if self._announce(PublishForm.DIRECT_WRITE):
            reach("delivery.before_publish")
            answer = self._session.write_final(
                self._order.source,
                self._order.expected.size,
                self._order.expected.name,
                progress=self._progress,
                abandon=self._abandon,
            )
            reach("delivery.after_publish")
            self._follow(answer, overwrite=False)

    def _announce(self, form: PublishForm) -> bool:
        """Record that the publish request is about to be sent; whether it may be.

        This is the last moment at which a process that is going down gives up: after it, the answer is awaited.
        """
        if self._abandon():
            self._give_up(NotSentReason.DRAINING, "the process was going down before the publish request")
            return False
        confirmed = self._record(PublishSent(form, self._order.temporary, self._order.expected.name))
        reach("delivery.after_announce")
        if not confirmed:
            self._give_up(NotSentReason.APPEND_NOT_CONFIRMED, "the announcement could not be recorded")
        return confirmed

    def _follow(self, answer: Answer, *, overwrite: bool) -> None:
        """Record the answer, look once more where the connection can still be trusted, send what goes along."""
        self._record(PublishAnswered(answer))
        reach("delivery.after_answer")
        if isinstance(answer, NoReply) or self._session.doubtful:
            return
        self._record(ReadBack(self._session.read_back(self._order.expected.name)))
        reach("delivery.after_read_back")
        if is_delivered(self._order.case(tuple(self._evidence))):
            self._send_companions(overwrite=overwrite)

    def _send_companions(self, *, overwrite: bool) -> None:
        """Announce a delivered file; a file in doubt is never announced."""
        order = self._order
        for record in send_companions(self._session, order.contract, order.expected, overwrite=overwrite):
            self._record(record)

    def _give_up(self, reason: NotSentReason, words: str) -> None:
        self._record(NotSent(reason, words))
        self._clean_up()

    def _clean_up_after(self, form: PublishForm, answer: Answer) -> None:
        """Remove the temporary name where it still has no use: after a link, or after a definite refusal."""
        if not isinstance(answer, NoReply) and (form is PublishForm.LINK or not isinstance(answer, Accepted)):
            self._clean_up()

    def _clean_up(self) -> None:
        """Remove our temporary name if the contract lets us; what stays is recorded for the scavenger."""
        if self._session.doubtful or not self._order.contract.permissions.may_delete:
            return
        answer = self._session.remove(self._order.temporary)
        reach("delivery.after_remove")
        if not isinstance(answer, Accepted):
            self._record(TemporaryLeft(self._order.temporary, answer))

    def _record(self, record: Evidence) -> bool:
        """Keep a record here and commit it; whether that is certain. An unconfirmed one still counts here."""
        self._evidence.append(record)
        return self._append(record) is Confirmation.CONFIRMED
