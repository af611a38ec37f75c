"""A fault at every request of a delivery: what is concluded, what is recorded, what lies at the partner.

Whatever goes wrong, the attempt ends within its bounds, its conclusion is one that the evidence allows, and the
final name was never written twice nor seen partial.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from exports.destinations.delivery import Delivered, deliver
from exports.evidence import (
    Absent,
    Accepted,
    Baseline,
    Conclusion,
    NoReply,
    NotSent,
    NotSentReason,
    Phase,
    ProbeSighting,
    PublishAnswered,
    PublishSent,
    ReadBack,
    Refused,
    TemporaryLeft,
    Trouble,
    Unanswered,
    UploadFailed,
)
from exports.verdicts import Asker, Case, judge
from tests.destinations.faulty import Fault, Step
from tests.destinations.partners import Export, History, Partner, deliver_to, make_export, order_for
from tests.destinations.watcher import Seen, watching

Faulty = Callable[..., Partner]

NOT_DELIVERED, UNKNOWN, COMPLETED = (
    Conclusion.NOT_DELIVERED,
    Conclusion.OUTCOME_UNKNOWN,
    Conclusion.COMPLETED,
)
DEADLINE_SECONDS = 10
PHASES = {
    Step.LOOK: Phase.LOOK,
    Step.OPEN: Phase.OPEN,
    Step.WRITE: Phase.WRITE,
    Step.FSYNC: Phase.FSYNC,
    Step.CLOSE: Phase.CLOSE,
    Step.VERIFY: Phase.VERIFY,
}
UPLOAD = [step for step in PHASES if step is not Step.LOOK]
BREAKING = {
    Fault.DROP_BEFORE: Trouble.CONNECTION_LOST,
    Fault.DROP_AFTER: Trouble.CONNECTION_LOST,
    Fault.HANG: Trouble.TIMEOUT,
    Fault.HANG_AFTER: Trouble.TIMEOUT,
}


@dataclass(frozen=True)
class Ended:
    """How a delivery under a fault ended, and what was seen at the partner meanwhile."""

    delivered: Delivered
    export: Export
    seen: Seen
    partner: Partner
    seconds: float

    @property
    def conclusion(self) -> Conclusion:
        return self.delivered.verdict.conclusion

    @property
    def arrived(self) -> bool:
        """Whether the final name stands there, complete."""
        path = self.partner.root / self.export.expected.name
        return path.exists() and path.read_bytes() == self.export.content

    def records(self, kind: type) -> list[object]:
        return [each for each in self.delivered.evidence if isinstance(each, kind)]


def run(partner: Partner, directory: Path, **groups: Any) -> Ended:
    """Deliver under a fault and check what must hold whatever the fault is."""
    export = make_export(directory)
    began = time.monotonic()
    limits = {"attempt_deadline_seconds": DEADLINE_SECONDS, "idle_timeout_seconds": 2}
    with watching(partner.root) as seen:
        delivered = deliver_to(partner, export, limits=limits, **groups)
    ended = Ended(delivered, export, seen, partner, time.monotonic() - began)
    assert ended.seconds < DEADLINE_SECONDS + 5
    assert seen.appearances(export.expected.name) <= 1
    assert seen.written_in_place(export.expected.name) == []
    assert len(ended.records(PublishSent)) <= 1
    if ended.conclusion is COMPLETED:
        assert ended.arrived
    if ended.conclusion is NOT_DELIVERED:
        assert not (partner.root / export.expected.name).exists()
    return ended


@pytest.mark.parametrize("fault", BREAKING)
@pytest.mark.parametrize("step", PHASES)
def test_a_connection_that_breaks_before_the_publish_request_is_not_delivered(
    faulty: Faulty, tmp_path: Path, step: Step, fault: Fault
) -> None:
    ended = run(faulty(step, fault), tmp_path)
    assert ended.conclusion is NOT_DELIVERED
    (failed,) = ended.records(UploadFailed)
    assert isinstance(failed, UploadFailed)
    assert (failed.phase, failed.trouble) == (PHASES[step], BREAKING[fault])
    assert ended.records(PublishSent) == []


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.ERROR_AFTER])
@pytest.mark.parametrize("step", PHASES)
def test_an_error_status_before_the_publish_request_is_not_delivered_and_keeps_its_code(
    faulty: Faulty, tmp_path: Path, step: Step, fault: Fault
) -> None:
    ended = run(faulty(step, fault), tmp_path)
    assert ended.conclusion is NOT_DELIVERED
    (failed,) = ended.records(UploadFailed)
    assert isinstance(failed, UploadFailed)
    assert (failed.phase, failed.trouble, failed.code) == (PHASES[step], Trouble.STATUS, 4)
    assert failed.text == "No space left on device"


@pytest.mark.parametrize("step", UPLOAD)
def test_a_temporary_file_is_removed_after_an_error_status(faulty: Faulty, tmp_path: Path, step: Step) -> None:
    ended = run(faulty(step, Fault.ERROR), tmp_path)
    assert ended.partner.names() == []


def test_a_server_without_fsync_is_no_failure(faulty: Faulty, tmp_path: Path) -> None:
    assert run(faulty(Step.FSYNC, Fault.UNSUPPORTED), tmp_path).conclusion is COMPLETED


@pytest.mark.parametrize("fault", [Fault.SHORT, Fault.VANISH])
def test_a_quota_that_takes_the_file_at_close_is_noticed_before_publishing(
    faulty: Faulty, tmp_path: Path, fault: Fault
) -> None:
    ended = run(faulty(Step.CLOSE, fault), tmp_path)
    assert ended.conclusion is NOT_DELIVERED
    (failed,) = ended.records(UploadFailed)
    assert isinstance(failed, UploadFailed)
    assert failed.phase is Phase.VERIFY
    assert ended.records(PublishSent) == []


def test_a_server_that_loses_what_it_confirmed_is_found_out_by_the_hash_and_by_nothing_else(
    faulty: Faulty, tmp_path: Path
) -> None:
    partner = faulty(Step.WRITE, Fault.SHORT)
    reading: dict[str, Any] = {"permissions": {"may_read": True}, "verification": {"read_back": True}}
    by_hash = deliver_to(partner, make_export(tmp_path), **reading)
    by_size = deliver_to(partner, make_export(tmp_path))
    assert by_hash.verdict.row == "accepted, another file"
    assert by_size.verdict.conclusion is COMPLETED, "if size alone finds this, the docs about proof can say so"


@pytest.mark.parametrize(
    ("fault", "arrives"),
    [
        (Fault.DROP_BEFORE, False),
        (Fault.DROP_AFTER, True),
        (Fault.HANG, False),
        (Fault.HANG_AFTER, True),
    ],
)
def test_a_publish_request_without_an_answer_is_unknown_whether_it_happened_or_not(
    faulty: Faulty, tmp_path: Path, fault: Fault, *, arrives: bool
) -> None:
    ended = run(faulty(Step.PUBLISH, fault), tmp_path)
    assert ended.conclusion is UNKNOWN
    assert ended.arrived is arrives
    (answered,) = ended.records(PublishAnswered)
    assert isinstance(answered, PublishAnswered)
    assert isinstance(answered.answer, NoReply)
    assert answered.answer.trouble is BREAKING[fault]
    assert ended.records(ReadBack) == []


def test_what_an_unanswered_publish_left_is_completed_later_from_evidence_and_not_sent_again(
    faulty: Faulty, tmp_path: Path
) -> None:
    ended = run(faulty(Step.PUBLISH, Fault.DROP_AFTER), tmp_path)
    partner = faulty()
    session = partner.open()
    seen = ProbeSighting(session.look(ended.export.expected.name), "recovery")
    session.close()
    case = Case(partner.contract(), ended.export.expected, (*ended.delivered.evidence, seen))
    assert judge(case, Asker.RECOVERY).conclusion is COMPLETED


def test_an_error_status_after_the_publish_happened_is_unknown(faulty: Faulty, tmp_path: Path) -> None:
    ended = run(faulty(Step.PUBLISH, Fault.ERROR_AFTER), tmp_path)
    assert ended.conclusion is UNKNOWN
    assert ended.arrived


def test_a_refused_publish_with_the_name_still_absent_is_not_delivered(faulty: Faulty, tmp_path: Path) -> None:
    ended = run(faulty(Step.PUBLISH, Fault.ERROR), tmp_path)
    assert ended.conclusion is NOT_DELIVERED
    assert ended.records(ReadBack) == [ReadBack(Absent())]
    assert ended.partner.names() == []


def test_a_refused_publish_at_a_partner_that_takes_files_at_once_is_unknown(faulty: Faulty, tmp_path: Path) -> None:
    ended = run(faulty(Step.PUBLISH, Fault.ERROR), tmp_path, consumes_at_once=True)
    assert ended.conclusion is UNKNOWN


def test_a_server_without_links_delivers_nothing_and_never_falls_back_to_rename(faulty: Faulty, tmp_path: Path) -> None:
    ended = run(faulty(Step.PUBLISH, Fault.UNSUPPORTED), tmp_path)
    assert ended.conclusion is NOT_DELIVERED
    (answered,) = ended.records(PublishAnswered)
    assert isinstance(answered, PublishAnswered)
    assert isinstance(answered.answer, Refused)
    assert answered.answer.code == 8


@pytest.mark.parametrize("fault", [*BREAKING, Fault.ERROR])
def test_an_accepted_publish_without_a_look_afterwards_is_unknown_unless_the_reply_is_proof(
    faulty: Faulty, tmp_path: Path, fault: Fault
) -> None:
    partner = faulty(Step.READ_BACK, fault)
    assert run(partner, tmp_path).conclusion is UNKNOWN
    by_reply = run(partner, tmp_path, verification={"publish_reply_is_proof": True})
    assert by_reply.conclusion is COMPLETED


def test_a_partner_that_takes_the_file_at_once_is_completed_only_by_the_clause_that_the_reply_is_proof(
    faulty: Faulty, tmp_path: Path
) -> None:
    partner = faulty(Step.PUBLISH, Fault.TAKE)
    export = make_export(tmp_path)
    without = deliver_to(partner, export, consumes_at_once=True)
    clause = {"publish_reply_is_proof": True}
    with_clause = deliver_to(partner, make_export(tmp_path), consumes_at_once=True, verification=clause)
    assert without.verdict.row == "accepted, not confirmed"
    assert with_clause.verdict.row == "accepted, reply is proof"


@pytest.mark.parametrize("fault", [*BREAKING, Fault.ERROR])
def test_a_temporary_name_that_cannot_be_removed_is_recorded_and_changes_nothing(
    faulty: Faulty, tmp_path: Path, fault: Fault
) -> None:
    ended = run(faulty(Step.REMOVE, fault), tmp_path)
    assert ended.conclusion is COMPLETED
    (left,) = ended.records(TemporaryLeft)
    assert isinstance(left, TemporaryLeft)
    assert left.name.endswith(".part")


def test_without_a_confirmed_baseline_not_a_byte_is_sent(faulty: Faulty, tmp_path: Path) -> None:
    partner = faulty()
    history = History(refuse=Baseline)
    with watching(partner.root) as seen:
        delivered = deliver_to(partner, make_export(tmp_path), append=history.append)
    assert delivered.verdict.conclusion is NOT_DELIVERED
    assert seen.events == []


def test_without_a_confirmed_announcement_the_publish_request_is_not_sent(faulty: Faulty, tmp_path: Path) -> None:
    partner, export = faulty(), make_export(tmp_path)
    history = History(refuse=PublishSent)
    with watching(partner.root) as seen:
        delivered = deliver_to(partner, export, append=history.append)
    assert delivered.verdict.conclusion is NOT_DELIVERED
    assert history.of(NotSent)[0].reason is NotSentReason.APPEND_NOT_CONFIRMED
    assert history.of(PublishAnswered) == []
    assert seen.appearances(export.expected.name) == 0
    assert partner.names() == []


def test_a_process_going_down_between_upload_and_publish_does_not_publish(faulty: Faulty, tmp_path: Path) -> None:
    partner, export = faulty(), make_export(tmp_path)
    contract = partner.contract()
    session = partner.open(contract)
    uploaded: list[int] = []
    delivered = deliver(
        session,
        order_for(export, contract),
        History().append,
        progress=uploaded.append,
        abandon=lambda: bool(uploaded) and uploaded[-1] == export.expected.size,
    )
    session.close()
    assert delivered.verdict.conclusion is NOT_DELIVERED
    assert any(isinstance(each, NotSent | UploadFailed) for each in delivered.evidence)
    assert partner.names() == []


def test_the_deadline_of_an_attempt_ends_it_however_patient_its_single_waits_are(
    faulty: Faulty, tmp_path: Path
) -> None:
    partner = faulty(Step.PUBLISH, Fault.HANG)
    began = time.monotonic()
    limits = {"attempt_deadline_seconds": 10, "idle_timeout_seconds": 600}
    delivered = deliver_to(partner, make_export(tmp_path), limits=limits)
    assert delivered.verdict.conclusion is UNKNOWN
    assert time.monotonic() - began < 10 + 5


def test_an_unanswered_baseline_is_kept_as_evidence_of_its_kind(faulty: Faulty, tmp_path: Path) -> None:
    ended = run(faulty(Step.LOOK, Fault.HANG), tmp_path)
    (baseline,) = ended.records(Baseline)
    assert isinstance(baseline, Baseline)
    assert isinstance(baseline.sighting, Unanswered)
    assert baseline.sighting.trouble is Trouble.TIMEOUT


def test_without_a_fault_the_same_server_completes(faulty: Faulty, tmp_path: Path) -> None:
    ended = run(faulty(), tmp_path)
    assert ended.conclusion is COMPLETED
    assert ended.records(PublishAnswered) == [PublishAnswered(Accepted())]


MODES: dict[str, dict[str, Any]] = {
    "hardlink_remove": {},
    "rename_noreplace": {"publish": {"mode": "rename_noreplace", "probed": {"rename_refuses_existing": True}}},
    "direct_write": {"publish": {"mode": "direct_write", "probed": {"exclusive_create_refuses": True}}},
}


@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
def test_the_whole_product_of_requests_faults_and_windows_ends_with_what_the_evidence_allows(
    faulty: Faulty, tmp_path: Path, mode: str
) -> None:
    # What a server does to a file it has confirmed shows only in the file's size at CLOSE, or in its hash.
    on_disk = {Fault.SHORT: {Step.CLOSE}, Fault.VANISH: {Step.CLOSE}, Fault.TAKE: {Step.PUBLISH}}
    product = [each for each in itertools.product(Step, Fault, (1, 64)) if each[0] in on_disk.get(each[1], Step)]
    for step, fault, window in product:
        partner = faulty(step, fault)
        export = make_export(tmp_path)
        limits = {
            "attempt_deadline_seconds": DEADLINE_SECONDS,
            "idle_timeout_seconds": 1,
            "max_outstanding_writes": window,
        }
        began = time.monotonic()
        with watching(partner.root) as seen:
            delivered = deliver_to(partner, export, limits=limits, **MODES[mode])
        named = (step, fault, window, delivered.verdict)
        path = partner.root / export.expected.name
        assert time.monotonic() - began < DEADLINE_SECONDS + 5, named
        assert seen.appearances(export.expected.name) <= 1, named
        if delivered.verdict.conclusion is COMPLETED:
            assert path.read_bytes() == export.content, named
            assert fault is not Fault.TAKE or mode == "direct_write", named
        if delivered.verdict.conclusion is NOT_DELIVERED:
            assert not path.exists(), named
        if mode != "direct_write":
            assert not path.exists() or path.read_bytes() == export.content, named
    print(f"{mode}: {len(product)} deliveries under a fault")  # noqa: T201 - the count is part of the result
