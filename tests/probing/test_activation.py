"""From a person's click to the refusal or admission of a contract: by the roles that do each part, on real servers."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import ProgrammingError, connections, transaction

from exports.actions.confirm_contract import confirm_contract
from exports.actions.deciding import Decided, NotReady, Verdict
from exports.actions.request_probe import NothingToProbe, Requested, request_probe
from exports.conf import Limits, limits
from exports.contracts import Contract, PublishMode
from exports.evidence import Absent, Baseline, encode
from exports.models import Destination, DestinationContract, DestinationSecret, ProbeRequest, ProbeResult, ProbeRun
from exports.models.base import ClockTimestamp
from exports.probing import State, activation_problems, latest, staleness
from exports.probing.judging import NO_SAFE_WAY, ONLY_LOOKS_FIRST
from exports.secrets import encrypt, new_key
from exports.worker import probes
from exports.worker.probes import Ran
from tests.destinations.keyring import new_key as new_host_key
from tests.destinations.keyring import public_line
from tests.destinations.test_conformance import RUNNERS
from tests.factories import ContractFactory, DestinationFactory, ExportFactory
from tests.probing.servers import Blind, Careless, Hopeless, Liar, served, with_scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.destinations.loops import LoopThread
    from tests.destinations.partners import Partner

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

LINK, RENAME, DIRECT = PublishMode.HARDLINK_REMOVE, PublishMode.RENAME_NOREPLACE, PublishMode.DIRECT_WRITE
CLAIMS: dict[str, Any] = {"rename_refuses_existing": True, "exclusive_create_refuses": True}
"""What somebody may write into a contract; only a probe of ours decides whether it counts."""


@pytest.fixture(autouse=True)
def _surroundings(settings: Any) -> None:
    here: Limits = replace(limits(), credential_keys=(new_key(),), allow_private_destinations=True)
    settings.EXPORTS = replace(here, share_roots=(Path("/"),))


def agreed(partner: Partner, destination: Destination | None = None, **groups: Any) -> DestinationContract:
    """Record a version of a contract with this partner, its credential sealed."""
    place = destination or DestinationFactory.create()
    sealed = DestinationSecret.objects.create(
        destination=place, ciphertext=encrypt(partner.secret, limits().credential_keys), created_by="user:ann"
    )
    auth = {**groups.pop("auth", {}), "secret_id": str(sealed.id)} if "auth" in partner.groups else {}
    terms = partner.contract(**({"auth": auth} if auth else {}), **groups).to_json()
    made: DestinationContract = ContractFactory.create(
        destination=place, version=place.contracts.count() + 1, terms=terms
    )
    return made


def changed(contract: DestinationContract, **groups: Any) -> DestinationContract:
    """Record the next version, with some fields of some groups changed and everything else as it was."""
    terms = Contract.from_json(contract.terms).to_json()
    for name, group in groups.items():
        terms[name] = {**terms[name], **group} if isinstance(group, dict) else group
    made: DestinationContract = ContractFactory.create(
        destination=contract.destination, version=contract.version + 1, terms=Contract.from_json(terms).to_json()
    )
    return made


def try_out(contract: DestinationContract) -> ProbeRequest:
    """Ask as the console does, and let a worker do the rest."""
    requested = request_probe(contract.destination_id, "user:ann", "api", contract=contract)
    assert isinstance(requested, Requested)
    assert probes.due("worker") == [requested.request.id]
    assert probes.run(requested.request.id, "worker") is Ran.RECORDED
    return requested.request


def problems(contract: DestinationContract) -> list[str]:
    return activation_problems(contract.destination_id, "api", contract)


@pytest.fixture
def partner(loop: LoopThread, tmp_path: Path) -> Iterator[Partner]:
    """Return an honest SFTP server in this process."""
    with RUNNERS["asyncssh"](loop, tmp_path / "partner") as running:
        yield with_scratch(running)


@pytest.mark.parametrize("kind", RUNNERS)
def test_each_server_of_the_suite_may_become_active_by_link_and_is_refused_what_was_not_proven(
    loop: LoopThread, open_path: Path, kind: str
) -> None:
    with RUNNERS[kind](loop, open_path / f"activate-{uuid.uuid4().hex}") as running:
        contract = agreed(with_scratch(running), permissions={"may_read": True})
        assert problems(contract) == ["The connection has not been tested yet; test it first."]
        try_out(contract)
        assert problems(contract) == []
        if kind != "directory":
            rename = changed(contract, publish={"mode": RENAME.value, "probed": CLAIMS})
            believed = kind == "openssh"
            assert (problems(rename) == []) is believed
            assert believed or problems(rename)[0] == ONLY_LOOKS_FIRST or "lost a race" in problems(rename)[0]
            assert believed or "hardlink_remove instead" in problems(rename)[1]


@pytest.mark.parametrize("manners", [Careless, Liar, Hopeless])
@pytest.mark.parametrize("mode", PublishMode)
def test_servers_that_overwrite_may_only_be_written_directly_or_not_at_all(
    loop: LoopThread, tmp_path: Path, manners: type[Careless], mode: PublishMode
) -> None:
    with served(loop, tmp_path, manners) as partner:
        contract = agreed(partner, publish={"mode": mode.value, "probed": CLAIMS})
        try_out(contract)
    found = problems(contract)
    assert (found == []) is (mode is DIRECT and manners is not Hopeless)
    assert (NO_SAFE_WAY in found) is (manners is Hopeless)
    if found and manners is not Hopeless:
        assert any("direct_write instead" in words for words in found)


def judged(contract: DestinationContract, using: str) -> list[str]:
    return activation_problems(contract.destination_id, using, contract)


@pytest.mark.parametrize(("manners", "mode"), [(Careless, LINK), (Careless, RENAME), (Hopeless, DIRECT)])
def test_a_second_person_cannot_bring_into_force_what_the_probe_does_not_admit(
    loop: LoopThread, tmp_path: Path, manners: type[Careless], mode: PublishMode
) -> None:
    with served(loop, tmp_path, manners) as partner:
        contract = agreed(partner, publish={"mode": mode.value, "probed": CLAIMS})
        try_out(contract)
    verdict = _verdict(contract)
    answer = confirm_contract(verdict, allow_same_person=False, judge=judged, using="api")
    assert isinstance(answer, NotReady)
    assert list(answer.objections) == problems(contract)
    assert Destination.objects.get(id=contract.destination_id).active_contract_id is None


def test_a_second_person_brings_into_force_what_the_probe_admits(partner: Partner) -> None:
    contract = agreed(partner)
    untested = confirm_contract(_verdict(contract), allow_same_person=False, judge=judged, using="api")
    assert isinstance(untested, NotReady)
    try_out(contract)
    assert isinstance(confirm_contract(_verdict(contract), allow_same_person=False, judge=judged, using="api"), Decided)
    assert Destination.objects.get(id=contract.destination_id).active_contract_id == contract.id


def _verdict(contract: DestinationContract) -> Verdict:
    return Verdict(
        tenant_id=contract.destination.tenant_id,
        contract_id=contract.id,
        decided_by="user:bob",
        reason="seen the test",
    )


def test_a_destination_without_a_contract_has_nothing_to_test_or_activate() -> None:
    destination = DestinationFactory.create()
    assert request_probe(destination.id, "user:ann", "api") == NothingToProbe()
    assert activation_problems(destination, "api") == ["The destination has no contract yet."]
    assert latest(destination.id, "api") is None


def test_a_click_sent_again_is_one_request_and_a_message_sent_again_one_run(partner: Partner) -> None:
    contract = agreed(partner)
    click = uuid.uuid4()
    for _ in range(2):
        request_probe(contract.destination_id, "user:ann", "api", request_id=click)
    assert ProbeRequest.objects.count() == 1
    assert probes.run(click, "worker") is Ran.RECORDED
    assert probes.run(click, "worker") is Ran.TAKEN
    assert probes.run(uuid.uuid4(), "worker") is Ran.UNKNOWN
    assert (ProbeRun.objects.count(), ProbeResult.objects.count()) == (1, 1)


def test_the_newest_version_is_tried_unless_another_is_named(partner: Partner) -> None:
    first = agreed(partner)
    second = changed(first, guards={"max_rows": 10})
    newest = request_probe(first.destination_id, "user:ann", "api")
    named = request_probe(first.destination_id, "user:ann", "api", contract=first)
    assert isinstance(newest, Requested)
    assert isinstance(named, Requested)
    assert (newest.request.contract_id, named.request.contract_id) == (second.id, first.id)


def test_the_page_is_told_how_far_a_test_is(partner: Partner) -> None:
    contract = agreed(partner)
    request_probe(contract.destination_id, "user:ann", "api")
    waiting = latest(contract.destination_id, "api")
    assert waiting is not None
    assert (waiting.state, waiting.report) == (State.WAITING, None)
    assert problems(contract) == ["The connection test is waiting for a worker."]
    ProbeRun.objects.using("worker").create(request=waiting.request, worker_id="w")
    assert problems(contract) == ["The connection is being tested."]
    assert probes.due("worker") == []
    ProbeRun.objects.update(began_at=ClockTimestamp() - timedelta(hours=1))
    lost = latest(contract.destination_id, "api")
    assert lost is not None
    assert lost.state is State.LOST
    assert problems(contract) == ["The connection test ended without a result; test again."]


def test_a_request_that_nobody_took_for_long_is_not_taken_any_more(partner: Partner) -> None:
    contract = agreed(partner)
    request_probe(contract.destination_id, "user:ann", "api")
    ProbeRequest.objects.update(requested_at=ClockTimestamp() - timedelta(hours=1))
    assert probes.due("worker") == []
    assert problems(contract) == ["The connection test ended without a result; test again."]


def test_one_partner_at_a_time_is_tried_so_that_recovery_keeps_its_threads(partner: Partner) -> None:
    first, second = agreed(partner), agreed(partner)
    for contract in (first, second):
        request_probe(contract.destination_id, "user:ann", "api")
    (one,) = probes.due("worker")
    assert probes.run(one, "worker") is Ran.RECORDED
    (other,) = probes.due("worker")
    assert other != one


def test_a_finished_test_tells_what_a_contract_that_adopts_it_says(partner: Partner) -> None:
    contract = agreed(partner)
    request = try_out(contract)
    probe = latest(contract.destination_id, "api")
    assert probe is not None
    assert probe.proposal is not None
    assert (probe.state, probe.proposal.mode) == (State.FINISHED, LINK)
    assert probe.probed is not None
    assert (probe.probed.link_is_honest, probe.probed.rename_refuses_existing) == (True, False)
    stored = ProbeResult.objects.get(request=request)
    assert (stored.server, stored.proposed_mode) == (probe.probed.server_version, LINK)
    assert stored.host_key == Contract.from_json(contract.terms).host_keys[0].fingerprint


def test_a_test_that_did_not_get_through_admits_nothing_and_says_where_it_ended(partner: Partner) -> None:
    contract = agreed(replace(partner, secret=replace(partner.secret, password="battery staple")))
    try_out(contract)
    (words,) = problems(contract)
    assert words == "The last connection test did not get through. The server refused the user or password."


def test_a_credential_that_does_not_open_is_a_trouble_of_signing_in(partner: Partner, settings: Any) -> None:
    contract = agreed(partner)
    settings.EXPORTS = replace(limits(), credential_keys=(new_key(),))
    try_out(contract)
    probe = latest(contract.destination_id, "api")
    assert probe is not None
    assert probe.report is not None
    assert [step.name for step in probe.report.steps] == ["sign_in"]
    assert "no key of the ring" in probe.report.trouble.lower()


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"permissions": {"may_read": True}}, "permissions.may_read"),
        ({"verification": {"checksum": "sha256"}}, "verification.checksum"),
    ],
)
def test_what_the_contract_counts_on_and_the_server_does_not_do_is_named(
    loop: LoopThread, tmp_path: Path, group: dict[str, Any], words: str
) -> None:
    with served(loop, tmp_path, Blind) as server:
        direct: dict[str, Any] = {"publish": {"mode": DIRECT.value, "probed": CLAIMS}}
        contract = agreed(server, **direct, **group)
        plain = agreed(server, contract.destination, **direct)
        try_out(contract)
        try_out(plain)
    (told,) = problems(contract)
    assert told.startswith(words)
    assert problems(plain) == []


@pytest.mark.parametrize(
    ("group", "named"),
    [
        ({"endpoint": {"host": "localhost"}}, "endpoint"),
        ({"auth": {"user": "somebody-else"}}, "auth"),
        ({"paths": {"final_prefix": "other-"}}, "paths"),
    ],
)
def test_a_contract_that_leads_elsewhere_makes_the_test_stale_and_says_which_part(
    partner: Partner, group: dict[str, Any], named: str
) -> None:
    contract = agreed(partner)
    try_out(contract)
    later = changed(contract, **group)
    assert problems(later) == [f"The contract was changed since the test of version 1 ({named}); test again."]
    assert problems(contract) == []


def test_a_contract_that_changes_only_what_is_sent_needs_no_new_test(partner: Partner) -> None:
    contract = agreed(partner)
    try_out(contract)
    assert problems(changed(contract, payload={"delimiter": ";"}, guards={"max_rows": 5})) == []


def test_a_key_that_is_pinned_instead_makes_the_test_stale(partner: Partner) -> None:
    contract = agreed(partner)
    try_out(contract)
    (told,) = problems(changed(contract, host_keys=[{"key": public_line(new_host_key())}]))
    assert "which is not pinned now; test again" in told


@pytest.mark.parametrize(
    ("server", "key", "words"),
    [
        ("SSH-2.0-Another_1.0", None, "and SSH-2.0-Another_1.0 at the last delivery"),
        (None, "SHA256:another", "the last delivery met SHA256:another"),
        (None, None, ""),
    ],
)
def test_a_server_that_the_last_delivery_met_changed_makes_the_test_stale(
    partner: Partner, server: str | None, key: str | None, words: str
) -> None:
    contract = agreed(partner)
    result = ProbeResult.objects.get(request=try_out(contract))
    met = Baseline(Absent(), server or result.server, key or result.host_key)
    job = ExportFactory.create(
        destination=contract.destination,
        status="Completed",
        delivery_authorized_at=result.finished_at + timedelta(seconds=1),
    )
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)"
            " VALUES (%s, %s, 'DeliveryEvidence', %s, clock_timestamp())",
            [job.id, job.attempt_id, encode(met)],
        )
    told = problems(contract)
    assert [words in each for each in told] == ([True] if words else [])
    probe = latest(contract.destination_id, "api")
    assert probe is not None
    assert staleness(probe, Contract.from_json(contract.terms), "api") == told


def test_a_new_test_ends_the_staleness(partner: Partner) -> None:
    contract = agreed(partner)
    try_out(contract)
    later = changed(contract, paths={"final_prefix": "other-"})
    assert problems(later) != []
    try_out(later)
    assert problems(later) == []


def test_a_result_of_another_release_is_said_to_be_unreadable(partner: Partner) -> None:
    contract = agreed(partner)
    try_out(contract)
    ProbeResult.objects.update(report={"format": 99})
    assert problems(contract) == [
        "The result of the last test cannot be read by this version of the program; test again."
    ]


@pytest.mark.parametrize(("alias", "model"), [("api", ProbeRun), ("api", ProbeResult), ("worker", ProbeRequest)])
def test_nobody_can_say_what_is_not_theirs_to_say(partner: Partner, alias: str, model: type[Any]) -> None:
    request = try_out(agreed(partner))
    rows = model.objects.using(alias)
    with pytest.raises(ProgrammingError), transaction.atomic(using=alias):
        rows.create(**_row(model, request))
    for change in ("DELETE FROM {}", "UPDATE {} SET {} = NULL"):
        with pytest.raises(ProgrammingError), connections[alias].cursor() as cursor:
            cursor.execute(change.format(model._meta.db_table, model._meta.pk.column))


def _row(model: type[Any], request: ProbeRequest) -> dict[str, Any]:
    if model is ProbeRequest:
        return {
            "destination_id": request.destination_id,
            "contract_id": request.contract_id,
            "requested_by": "user:forged",
        }
    row: dict[str, Any] = {"request": request, "worker_id": "forged"}
    empty = {"server": "", "host_key": "", "proposed_mode": "", "report": {}}
    return row | (empty if model is ProbeResult else {})
