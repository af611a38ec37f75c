"""A direct write: what goes wrong after the final name was opened leaves the outcome unknown, on real servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exports.evidence import Conclusion, PublishAnswered, PublishSent
from tests.destinations.faulty import Fault, Step
from tests.destinations.partners import History, deliver_to, make_export

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.destinations.partners import Partner

DIRECT: dict[str, Any] = {"publish": {"mode": "direct_write", "probed": {"exclusive_create_refuses": True}}}
LARGE = 200_000  # bytes: several write requests, so that the second of them can fail

STEPS = [Step.OPEN, Step.WRITE, Step.FSYNC, Step.CLOSE]
FAULTS = [Fault.ERROR, Fault.ERROR_AFTER, Fault.DROP_BEFORE, Fault.DROP_AFTER, Fault.HANG]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_every_error_after_the_final_name_was_opened_leaves_the_outcome_unknown(
    faulty: Callable[..., Partner], tmp_path: Path, step: Step, fault: Fault
) -> None:
    history = History()
    export = make_export(tmp_path, b"d" * LARGE)
    delivered = deliver_to(faulty(step, fault), export, append=history.append, **DIRECT)
    assert delivered.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN, delivered.verdict
    assert len(history.of(PublishSent)) == len(history.of(PublishAnswered)) == 1


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.DROP_BEFORE, Fault.HANG])
def test_before_the_final_name_is_opened_nothing_was_sent(
    faulty: Callable[..., Partner], tmp_path: Path, fault: Fault
) -> None:
    partner = faulty(Step.LOOK, fault)
    delivered = deliver_to(partner, make_export(tmp_path), **DIRECT)
    assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert partner.names() == []


def test_a_direct_write_that_came_through_is_completed_and_a_taken_name_is_left_as_it_was(
    faulty: Callable[..., Partner], tmp_path: Path
) -> None:
    partner, export = faulty(), make_export(tmp_path)
    assert deliver_to(partner, export, **DIRECT).verdict.conclusion is Conclusion.COMPLETED
    other = make_export(tmp_path, name=export.expected.name)
    again = deliver_to(partner, other, **DIRECT)
    assert again.verdict.conclusion is Conclusion.FINAL_NAME_OCCUPIED
    assert (partner.root / export.expected.name).read_bytes() == export.content
