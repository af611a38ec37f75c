"""A crash at every step of a delivery: what history and a fresh look let recovery conclude, and nothing more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from exports import crashpoints
from exports.destinations.delivery import deliver
from exports.evidence import Conclusion, ProbeSighting
from exports.verdicts import Asker, judge
from tests.destinations.partners import History, Partner, make_export, order_for

UNKNOWN, COMPLETED = Conclusion.OUTCOME_UNKNOWN, Conclusion.COMPLETED

POINTS = {
    "delivery.before_look": UNKNOWN,
    "delivery.after_baseline": UNKNOWN,
    "delivery.before_upload": UNKNOWN,
    "delivery.after_upload": UNKNOWN,
    "delivery.after_announce": UNKNOWN,
    "delivery.before_publish": UNKNOWN,
    "delivery.after_publish": COMPLETED,
    "delivery.after_answer": COMPLETED,
    "delivery.after_read_back": COMPLETED,
    "delivery.after_remove": COMPLETED,
}


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture
def partner(tmp_path: Path) -> Partner:
    """Return the quickest real destination."""
    root = tmp_path / "share"
    root.mkdir()
    return Partner("directory", root, {"endpoint": {"kind": "directory"}, "paths": {"directory": str(root)}})


def crash() -> None:
    raise crashpoints.Crashed


@pytest.mark.parametrize("point", POINTS)
def test_recovery_completes_a_crashed_delivery_exactly_when_the_file_was_published(
    partner: Partner, tmp_path: Path, point: str
) -> None:
    export, history = make_export(tmp_path), History()
    order = order_for(export, partner.contract())
    session = partner.open()
    crashpoints.arm(point, crash)
    with pytest.raises(crashpoints.Crashed):
        deliver(session, order, history.append)
    crashpoints.disarm()
    looking = partner.open()
    seen = ProbeSighting(looking.look(export.expected.name), "recovery")
    verdict = judge(order.case((*history.records, seen)), Asker.RECOVERY)
    assert verdict.conclusion is POINTS[point], verdict
    published = (partner.root / export.expected.name).exists()
    assert (verdict.conclusion is COMPLETED) == published
    session.close()
    looking.close()


def test_every_point_of_a_delivery_is_crashed_at_here() -> None:
    source = Path(deliver.__code__.co_filename).read_text()
    named = {line.split('"')[1] for line in source.splitlines() if 'reach("' in line}
    assert named == set(POINTS)
