"""Replacements: the original's own file is recognised, a stranger's is left alone, an agreement is needed."""

from pathlib import Path

import pytest

from exports.destinations.delivery import Order, check_name, deliver, not_connected
from exports.evidence import (
    Conclusion,
    ExpectedFile,
    NotSent,
    NotSentReason,
    PublishForm,
    PublishSent,
)
from exports.verdicts import JobRole
from tests.destinations.partners import Export, History, Partner, deliver_to, make_export, order_for
from tests.destinations.watcher import watching

READING = {"permissions": {"may_read": True}, "verification": {"read_back": True}}
AGREED = {"publish": {"overwrite": "posix_rename"}}
IDENTIFIES = {"verification": {"name_and_size_identifies": True}}


@pytest.fixture
def partner(tmp_path: Path) -> Partner:
    """Return the quickest real destination: these rules are the same over every other."""
    root = tmp_path / "share"
    root.mkdir()
    return Partner("directory", root, {"endpoint": {"kind": "directory"}, "paths": {"directory": str(root)}})


@pytest.fixture
def original(tmp_path: Path) -> Export:
    return make_export(tmp_path, b"the original's bytes")


@pytest.fixture
def rebuilt(tmp_path: Path, original: Export) -> Export:
    """Return a rebuilt file of the same name and size with other bytes."""
    return make_export(tmp_path, b"the rebuilt file's..", original.expected.name)


def replace(
    partner: Partner, original: ExpectedFile | None, rebuilt: Export, role: JobRole, **groups: object
) -> tuple[Order, History]:
    """Return a replacement's order and an empty history."""
    contract = partner.contract(**groups)
    return order_for(rebuilt, contract, role, original=original), History()


def run(partner: Partner, order: Order, history: History) -> Conclusion:
    """Deliver the order; returns its conclusion."""
    session = partner.open(order.contract)
    try:
        return deliver(session, order, history.append).verdict.conclusion
    finally:
        session.close()


@pytest.mark.parametrize("role", [JobRole.REPLACEMENT, JobRole.OVERWRITE])
@pytest.mark.parametrize("groups", [READING, IDENTIFIES])
def test_a_file_identified_as_the_originals_is_left_and_nothing_is_sent(
    partner: Partner, original: Export, rebuilt: Export, role: JobRole, groups: dict[str, object]
) -> None:
    deliver_to(partner, original)
    order, history = replace(partner, original.expected, rebuilt, role, **{**AGREED, **groups})
    with watching(partner.root) as seen:
        assert run(partner, order, history) is Conclusion.ORIGINAL_DELIVERED
    assert seen.events == []
    assert history.of(NotSent)[0].reason is NotSentReason.ORIGINAL_FOUND


def test_a_file_of_the_originals_size_alone_is_occupied_and_settles_nothing(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    deliver_to(partner, original)
    order, history = replace(partner, original.expected, rebuilt, JobRole.REPLACEMENT)
    with watching(partner.root) as seen:
        assert run(partner, order, history) is Conclusion.FINAL_NAME_OCCUPIED
    assert seen.events == []


def test_a_file_whose_hash_is_not_the_originals_is_occupied_even_where_size_identifies(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    (partner.root / original.expected.name).write_bytes(b"somebody else's file")
    both = {"permissions": {"may_read": True}, "verification": {"read_back": True, "name_and_size_identifies": True}}
    order, history = replace(partner, original.expected, rebuilt, JobRole.REPLACEMENT, **both)
    assert run(partner, order, history) is Conclusion.FINAL_NAME_OCCUPIED


def test_a_replacement_delivers_under_a_name_that_is_free(partner: Partner, original: Export, rebuilt: Export) -> None:
    order, history = replace(partner, original.expected, rebuilt, JobRole.REPLACEMENT)
    assert run(partner, order, history) is Conclusion.COMPLETED
    assert (partner.root / original.expected.name).read_bytes() == rebuilt.content


def test_an_overwrite_of_the_same_size_is_unknown_by_listing_and_completed_by_hash(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    path = partner.root / original.expected.name
    path.write_bytes(b"something else it is")
    order, history = replace(partner, original.expected, rebuilt, JobRole.OVERWRITE, **AGREED)
    assert run(partner, order, history) is Conclusion.OUTCOME_UNKNOWN
    assert path.read_bytes() == rebuilt.content
    path.write_bytes(b"something else again")
    order, history = replace(partner, original.expected, rebuilt, JobRole.OVERWRITE, **AGREED, **READING)
    assert run(partner, order, history) is Conclusion.COMPLETED
    assert history.of(PublishSent)[0].form is PublishForm.POSIX_RENAME


def test_an_agreement_is_not_used_where_the_name_is_free(partner: Partner, original: Export, rebuilt: Export) -> None:
    order, history = replace(partner, original.expected, rebuilt, JobRole.OVERWRITE, **AGREED)
    assert run(partner, order, history) is Conclusion.COMPLETED
    assert history.of(PublishSent)[0].form is PublishForm.LINK


def test_an_agreement_without_a_form_in_the_contract_sends_nothing(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    (partner.root / original.expected.name).write_bytes(b"old")
    order, history = replace(partner, original.expected, rebuilt, JobRole.OVERWRITE)
    assert run(partner, order, history) is Conclusion.NOT_DELIVERED
    assert history.of(NotSent)[0].reason is NotSentReason.NO_OVERWRITE_FORM
    assert (partner.root / original.expected.name).read_bytes() == b"old"


def test_a_file_that_lands_between_look_and_publish_is_never_replaced_and_the_outcome_is_unknown(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    order, history = replace(partner, original.expected, rebuilt, JobRole.REPLACEMENT)
    session = partner.open(order.contract)

    def land(_confirmed: int) -> None:
        """Let the paused original upload arrive while the replacement is uploading."""
        (partner.root / original.expected.name).write_bytes(original.content)

    delivered = deliver(session, order, history.append, progress=land)
    session.close()
    assert delivered.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN
    assert (partner.root / original.expected.name).read_bytes() == original.content


def test_an_acknowledged_original_stops_a_replacement_though_the_file_is_gone(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    contract = partner.contract()
    order = order_for(rebuilt, contract, JobRole.REPLACEMENT, original=original.expected, original_acknowledged=True)
    with watching(partner.root) as seen:
        assert run(partner, order, History()) is Conclusion.ORIGINAL_DELIVERED
    assert seen.events == []


def test_an_occupied_name_is_found_during_preparation_without_a_word_of_evidence(
    partner: Partner, original: Export, rebuilt: Export
) -> None:
    session = partner.open()
    order = order_for(rebuilt, partner.contract())
    assert check_name(session, order) is None
    deliver_to(partner, original)
    found = check_name(session, order)
    session.close()
    assert found is not None
    assert found.conclusion is Conclusion.FINAL_NAME_OCCUPIED


def test_what_could_not_be_connected_was_not_delivered(partner: Partner, original: Export) -> None:
    history = History()
    done = not_connected(order_for(original, partner.contract()), "the server is away", history.append)
    assert done.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert history.records == list(done.evidence)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "..", "a\nb", "é", "x" * 300])
def test_a_final_name_that_is_no_plain_name_is_a_bug_and_stops_before_any_request(
    partner: Partner, original: Export, name: str
) -> None:
    contract = partner.contract()
    wrong = Export(original.path, ExpectedFile(name, 1, "00"))
    with pytest.raises(ValueError, match="delivery key"):
        order_for(wrong, contract)
