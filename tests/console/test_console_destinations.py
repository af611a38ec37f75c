"""Setting a partner up: one person writes, another confirms, and what each of them is told."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.admin.models import LogEntry

from exports.actions.propose_contract import Proposed, propose_contract
from exports.admin.agreed.fields import GROUPS, SERVER_SET, Rows
from exports.admin.agreed.plain import all_paths
from exports.contracts import (
    Acknowledgment,
    AcknowledgmentKind,
    Auth,
    AuthMethod,
    ChecksumAlgorithm,
    Companion,
    CompanionContent,
    Contract,
    EmptyExport,
    Endpoint,
    Filter,
    FilterOperator,
    Guards,
    HostKey,
    Limits,
    LineEnd,
    OverwriteForm,
    Paths,
    Payload,
    Permissions,
    Publish,
    Retention,
    Verification,
)
from exports.models import ContractDecision, Destination, DestinationContract, DestinationSecret
from exports.secrets import decrypt, new_key
from tests.agreed.agreeing import ANN, confirm, in_force, proposal, propose
from tests.console.pages import fields_of, fill, one_of, text_of
from tests.people import a_tenant, an_export
from tests.recovery import lives
from tests.recovery.lives import NOBODYS_KEY
from tests.test_contracts import HOST_KEY

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

PLACES = "/admin/exports/destination/"
VERSIONS = "/admin/exports/destinationcontract/"
PASSWORD = "a partner's password that nobody sees again"
GROUP = "Export administrators"
FINGERPRINT = "SHA256:45TR4S+ZjhD14cS5SYgpfLPb3/UxbDKE1RqX0PoDZIM"
"""Of HOST_KEY, as ssh-keygen prints it."""


@pytest.fixture
def keyring(settings: Any) -> list[str]:
    keys = [new_key()]
    settings.EXPORTS = replace(settings.EXPORTS, credential_keys=tuple(keys))
    return keys


@pytest.fixture
def ann(tenant: Tenant) -> RoleClient:
    return one_of(GROUP, tenant, username="ann")


@pytest.fixture
def bob(tenant: Tenant) -> RoleClient:
    return one_of(GROUP, tenant, username="bob")


@pytest.fixture(autouse=True)
def _nothing_speaks_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every version be confirmed as if tested: what a test has to show has tests of its own."""
    monkeypatch.setattr("exports.admin.agreed.deciding.activation_problems", lambda *_: [])


def screen(destination: Destination, name: str) -> str:
    return f"{PLACES}{destination.id}/{name}/"


def version_screen(contract: DestinationContract, name: str) -> str:
    return f"{VERSIONS}{contract.id}/{name}/"


def write(browser: RoleClient, destination: Destination, **answers: str) -> Any:
    """Fill the contract in, check it, and propose it."""
    checked = fill(browser, screen(destination, "contract"), **answers)
    assert "Read it once more before it counts" in text_of(checked), text_of(checked)
    return browser.post(screen(destination, "contract"), {**fields_of(checked), "confirmed": "yes"})


RICH = Contract(
    endpoint=Endpoint(host="sftp.example.org", port=2222),
    paths=Paths("/in", "/aside", "tmp-", ".x", "c-", ".txt", "/scratch"),
    auth=Auth("us", "", AuthMethod.KEY, datetime(2031, 1, 31, 12, 30, 15, tzinfo=UTC)),
    host_keys=(HostKey(HOST_KEY, datetime(2030, 1, 1, tzinfo=UTC), None, "a letter"), HostKey(NOBODYS_KEY)),
    publish=Publish(overwrite=OverwriteForm.POSIX_RENAME),
    permissions=Permissions(may_read=True),
    verification=Verification(
        checksum=ChecksumAlgorithm.SHA256,
        acknowledgment=Acknowledgment(AcknowledgmentKind.FILE_APPEARS, suffix=".ok", negative_suffix=".no"),
        read_back=True,
    ),
    companions=(Companion(".sha256", CompanionContent.SHA256SUM), Companion(".done")),
    payload=Payload(
        columns=("email", "phone"),
        delimiter="\t",
        encoding="utf-8-sig",
        line_end=LineEnd.CRLF,
        empty_export=EmptyExport.SEND,
        spreadsheet_safe=True,
        filters=(Filter("country", FilterOperator.DIFFERS, "NL"), Filter("email", FilterOperator.PRESENT)),
    ),
    limits=Limits(max_running=2, rate_per_minute=10),
    guards=Guards(max_change_percent=50),
    retention=Retention(partner_days=7, may_remove_leftovers=True),
)
"""A contract that makes use of everything."""

FIRST = {
    "endpoint.host": "sftp.example.org",
    "auth.user": "us",
    "paths.directory": "/in",
    "host_keys.0.key": HOST_KEY,
    "host_keys.0.source": "their letter",
    "reason": "agreed by mail",
}


def test_a_partner_is_set_up_by_two_persons(
    ann: RoleClient, bob: RoleClient, tenant: Tenant, keyring: list[str]
) -> None:
    created = fill(ann, f"{PLACES}new/", name="The mailing house")
    destination = Destination.objects.get()
    assert (created["Location"], destination.tenant) == (f"{PLACES}{destination.id}/change/", tenant)
    job = an_export(destination)
    fill(ann, screen(destination, "credential"), user="us", password=PASSWORD, reason="as they sent it")
    write(ann, destination, **FIRST)

    first = DestinationContract.objects.get()
    assert (first.version, first.created_by, first.reason) == (1, ANN, "agreed by mail")
    assert in_force(destination) is None
    page = text_of(bob.get(f"{PLACES}{destination.id}/change/"))
    assert "version 1, by user:ann: agreed by mail" in page
    shown = text_of(bob.get(version_screen(first, "confirm")))
    assert "sftp.example.org" in shown
    assert FINGERPRINT in shown
    answer = fill(bob, version_screen(first, "confirm"), reason="compared with the letter")

    assert answer["Location"] == f"{PLACES}{destination.id}/change/"
    assert in_force(destination) == first.id
    assert lives.now(job.id).status == "Queued"
    sealed = DestinationSecret.objects.get()
    assert first.terms["auth"]["secret_id"] == str(sealed.id)
    assert decrypt(bytes(sealed.ciphertext), keyring).password == PASSWORD
    told = [entry.change_message for entry in LogEntry.objects.order_by("id")]
    assert told == ["Created as The mailing house.", "Stored a credential. Why: as they sent it"]


def test_no_page_shows_a_credential_again(
    ann: RoleClient, destination: Destination, keyring: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert keyring
    path = screen(destination, "credential")
    answers = {**fields_of(ann.get(path)), "user": "us", "password": PASSWORD}
    wrong = ann.post(path, {**answers, "private_key": PASSWORD})
    assert wrong.status_code == 400
    stored = ann.post(path, {**answers, "reason": "x"})
    assert stored.status_code == 302

    pages = [wrong, ann.get(stored["Location"]), ann.get(path), ann.get(screen(destination, "contract"))]

    assert [page for page in pages if PASSWORD in page.content.decode()] == []
    assert "credential: stored" in text_of(pages[1]).lower()
    assert PASSWORD not in caplog.text
    assert not any(PASSWORD in str(entry.__dict__) for entry in LogEntry.objects.all())


def test_a_replaced_credential_is_a_version_that_waits_for_a_second_person(
    ann: RoleClient, bob: RoleClient, destination: Destination, keyring: list[str]
) -> None:
    first = propose(destination)
    confirm(first)

    fill(ann, screen(destination, "credential"), password=PASSWORD, reason="theirs had leaked")

    second = DestinationContract.objects.latest("version")
    assert (second.version, second.reason, in_force(destination)) == (2, "theirs had leaked", first.id)
    new = DestinationSecret.objects.get(id=second.terms["auth"]["secret_id"])
    assert decrypt(bytes(new.ciphertext), keyring).password == PASSWORD
    before = Contract.from_json(first.terms)
    assert Contract.from_json(second.terms) == replace(before, auth=replace(before.auth, secret_id=str(new.id)))
    assert "Stored credential" in text_of(bob.get(version_screen(second, "confirm")))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"method": "key"}, "“Private key” is missing"),
        ({"password": ""}, "“Password” is missing"),
        ({"method": "certificate", "private_key": "k", "password": ""}, "“Certificate” is missing"),
        ({"private_key": "k"}, "“Private key” is not used by this method"),
    ],
)
def test_a_credential_has_what_its_method_needs(
    ann: RoleClient, destination: Destination, keyring: list[str], answers: dict[str, str], words: str
) -> None:
    assert keyring
    filled = {"user": "us", "password": PASSWORD, "reason": "x", **answers}

    answer = fill(ann, screen(destination, "credential"), **filled)

    assert answer.status_code == 400
    assert words in text_of(answer)
    assert not DestinationSecret.objects.exists()


def test_a_change_shows_what_changes_and_nothing_else(ann: RoleClient, destination: Destination) -> None:
    confirm(propose(destination))

    checked = fill(
        ann,
        screen(destination, "contract"),
        **{"limits.max_running": "3", "publish.overwrite": "posix_rename", "reason": "they asked for it"},
    )

    shown = text_of(checked)
    assert "Against version 1, by user:ann: What changes" in shown
    assert "Exports under way at once — 3" in shown
    assert "An agreed overwrite none in one step (posix-rename)" in shown
    assert shown.count("sftp.example.org") == 0
    assert not DestinationContract.objects.filter(version=2).exists()


def test_a_change_of_nothing_is_not_recorded(ann: RoleClient, destination: Destination) -> None:
    confirm(propose(destination))

    answer = fill(ann, screen(destination, "contract"), reason="for no reason")

    assert "Nothing is changed against version 1." in text_of(answer)
    assert DestinationContract.objects.count() == 1


def test_every_value_of_a_contract_goes_through_the_form_unchanged(ann: RoleClient, destination: Destination) -> None:
    wanted = proposal(destination)
    secret_id = wanted.terms.auth.secret_id
    answer = propose_contract(
        replace(wanted, terms=replace(RICH, auth=replace(RICH.auth, secret_id=secret_id))), using="api"
    )
    assert isinstance(answer, Proposed)
    first = answer.contract
    confirm(first)

    write(ann, destination, reason="only one thing", **{"guards.max_rows": "12345"})

    second = DestinationContract.objects.get(version=2)
    expected = {**first.terms, "guards": {**first.terms["guards"], "max_rows": 12345}}
    assert second.terms == expected


def test_what_is_wrong_stands_at_its_field(ann: RoleClient, destination: Destination) -> None:
    propose(destination)

    answer = fill(
        ann,
        screen(destination, "contract"),
        **{
            "endpoint.host": "not a host!",
            "host_keys.1.key": "ssh-rsa nonsense",
            "paths.directory": "../up",
            "limits.max_connections": "65",
            "reason": "x",
        },
    )

    page = answer.content.decode()
    assert answer.status_code == 400
    for field in ("endpoint.host", "host_keys.1.key", "paths.directory", "limits.max_connections"):
        assert f'href="#id_{field}"' in page, field
        assert f'id="id_{field}_error"' in page, field
    assert DestinationContract.objects.count() == 1


def test_what_contradicts_itself_is_said_by_the_contract(ann: RoleClient, destination: Destination) -> None:
    propose(destination)

    answer = fill(ann, screen(destination, "contract"), **{"publish.mode": "rename_noreplace", "reason": "x"})

    assert answer.status_code == 400
    assert "plain rename needs a probe that saw it refuse an existing name" in text_of(answer)
    assert 'id="id_publish.mode_error"' in answer.content.decode()


def test_a_first_contract_without_a_credential_says_where_to_store_one(
    ann: RoleClient, destination: Destination
) -> None:
    opened = ann.get(screen(destination, "contract"))
    assert "No credential is stored yet." in text_of(opened)

    assert fill(ann, screen(destination, "contract"), **FIRST).status_code == 400
    assert not DestinationContract.objects.exists()


def test_host_keys_are_pinned_and_unpinned_one_by_one(ann: RoleClient, destination: Destination) -> None:
    first = propose(destination)
    old = first.terms["host_keys"][0]["key"]
    write(
        ann,
        destination,
        **{"host_keys.1.key": HOST_KEY, "host_keys.1.valid_from": "2030-01-31T12:00:00", "reason": "rotation"},
    )
    both = DestinationContract.objects.get(version=2).terms["host_keys"]
    assert [key["key"] for key in both] == [old, HOST_KEY]
    assert both[1]["valid_from"] == "2030-01-31T12:00:00+00:00"

    write(ann, destination, **{"host_keys.0.key": "", "reason": "the old one is gone"})

    assert [key["key"] for key in DestinationContract.objects.get(version=3).terms["host_keys"]] == [HOST_KEY]


def test_whoever_loses_the_race_is_told_and_keeps_their_answers(
    ann: RoleClient, bob: RoleClient, destination: Destination
) -> None:
    propose(destination)
    opened = bob.get(screen(destination, "contract"))
    write(ann, destination, **{"limits.max_running": "3", "reason": "they asked for it"})
    filled = {**fields_of(opened), "paths.directory": "/other", "reason": "moved"}

    for extra in ({}, {"confirmed": "yes"}):
        answer = bob.post(screen(destination, "contract"), {**filled, **extra})
        assert answer.status_code == 409
        told = text_of(answer)
        assert "Nothing was recorded: user:ann wrote version 2 while you looked at 1." in told
        assert "Exports under way at once — 3" in told
    kept = fields_of(answer)
    assert (kept["paths.directory"], kept["looked_at"]) == ("/other", "2")
    assert DestinationContract.objects.count() == 2

    checked = bob.post(screen(destination, "contract"), kept)
    assert "Exports under way at once 3 —" in text_of(checked)
    bob.post(screen(destination, "contract"), {**fields_of(checked), "confirmed": "yes"})
    assert DestinationContract.objects.get(version=3).terms["paths"]["directory"] == "/other"


def test_a_double_click_is_one_version(ann: RoleClient, destination: Destination) -> None:
    propose(destination)
    checked = fill(ann, screen(destination, "contract"), **{"limits.max_running": "3", "reason": "x"})
    clicked = {**fields_of(checked), "confirmed": "yes"}

    answers = [ann.post(screen(destination, "contract"), clicked) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert DestinationContract.objects.count() == 2


def test_nobody_confirms_their_own(ann: RoleClient, destination: Destination) -> None:
    first = propose(destination)

    assert "You have written this yourself" in text_of(ann.get(version_screen(first, "confirm")))
    answer = ann.post(version_screen(first, "confirm"), {"reason": "I am sure"})

    assert answer.status_code == 409
    assert "Another person has to confirm it." in text_of(answer)
    assert in_force(destination) is None


def test_a_setting_lets_one_person_do_both_and_the_page_says_so(
    ann: RoleClient, destination: Destination, settings: Any
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, allow_same_person_confirmation=True)
    first = propose(destination)
    assert "it is recorded that one person did both" in text_of(ann.get(version_screen(first, "confirm")))

    fill(ann, version_screen(first, "confirm"), reason="there is only me")

    assert in_force(destination) == first.id
    assert ContractDecision.objects.get().is_one_person
    assert "one person, as a setting allows" in text_of(ann.get(f"{PLACES}{destination.id}/change/"))


def test_what_has_not_been_tested_is_not_confirmed(
    bob: RoleClient, destination: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.admin.agreed.deciding.activation_problems", lambda *_: ["Not tested."])
    first = propose(destination)

    assert "Not tested." in text_of(bob.get(version_screen(first, "confirm")))
    answer = bob.post(version_screen(first, "confirm"), {"reason": "x"})

    assert answer.status_code == 409
    assert "It cannot come into force yet. Nothing was done." in text_of(answer)
    assert in_force(destination) is None


def test_a_version_is_turned_down_with_a_reason(bob: RoleClient, destination: Destination) -> None:
    first = propose(destination)

    fill(bob, version_screen(first, "decline"), reason="the key is not theirs")

    shown = text_of(bob.get(f"{PLACES}{destination.id}/change/"))
    assert "turned down by user:bob" in shown
    assert "the key is not theirs" in shown
    told = text_of(bob.get(version_screen(first, "confirm")))
    assert "This version is decided already." in told


def test_who_confirms_what_was_changed_again_is_told(bob: RoleClient, destination: Destination) -> None:
    first = propose(destination)
    opened = bob.get(version_screen(first, "confirm"))
    propose(destination)

    answer = bob.post(version_screen(first, "confirm"), {**fields_of(opened), "reason": "looks right"})

    assert answer.status_code == 409
    assert "user:ann wrote version 2 since." in text_of(answer)
    assert in_force(destination) is None


def test_a_destination_is_renamed_and_closed_with_a_reason(ann: RoleClient, destination: Destination) -> None:
    fill(ann, screen(destination, "settings"), name="Another name", state="closed", reason="they went out of business")

    destination.refresh_from_db()
    assert (destination.name, destination.is_enabled) == ("Another name", False)
    entry = LogEntry.objects.get()
    assert (entry.user.username, "Why: they went out of business" in entry.change_message) == ("ann", True)


def test_a_change_of_what_was_changed_since_is_not_made(ann: RoleClient, destination: Destination) -> None:
    opened = fields_of(ann.get(screen(destination, "settings")))
    Destination.objects.filter(id=destination.id).update(is_enabled=False)

    answer = ann.post(screen(destination, "settings"), {**opened, "name": "mine", "reason": "x"})

    assert answer.status_code == 409
    assert "Somebody changed it while you looked at it." in text_of(answer)
    destination.refresh_from_db()
    assert (destination.name != "mine", destination.is_enabled) == (True, False)


@pytest.mark.parametrize("path", ["new", "settings"])
def test_a_name_is_given_once_in_a_tenant(ann: RoleClient, tenant: Tenant, destination: Destination, path: str) -> None:
    taken = Destination.objects.create(tenant=tenant, name="taken")
    address = f"{PLACES}new/" if path == "new" else screen(destination, path)

    answer = fill(ann, address, name=taken.name, reason="x")

    assert answer.status_code == 400
    assert "Another destination of this tenant has this name." in text_of(answer)
    assert Destination.objects.count() == 2


def test_a_destination_is_made_in_ones_own_tenant_alone(ann: RoleClient) -> None:
    foreign = a_tenant()

    answer = fill(ann, f"{PLACES}new/", name="n", tenant=str(foreign.id))

    assert answer.status_code == 400
    assert not Destination.objects.exists()


def test_the_page_of_a_destination_is_the_one_place(bob: RoleClient, destination: Destination) -> None:
    first = propose(destination)

    page = bob.get(f"{PLACES}{destination.id}/change/").content.decode()

    ways = [version_screen(first, "confirm"), version_screen(first, "decline")]
    ways += [screen(destination, name) for name in ("contract", "credential", "probe", "settings")]
    ways += [f"/admin/exports/hold/pause/?destination={destination.id}", "/admin/exports/hold/freeze/"]
    assert [way for way in ways if way not in page] == []


def test_every_field_of_a_contract_has_its_words() -> None:
    worded = set()
    for part in (part for group in GROUPS for part in group.parts):
        if isinstance(part, Rows):
            worded |= {f"{part.path}.{one.path}" for one in part.fields}
        else:
            worded.add(part.path)

    server_set = {path for path in all_paths() if any(path == at or path.startswith(f"{at}.") for at in SERVER_SET)}
    assert worded == all_paths() - server_set


def test_an_unknown_version_is_missing(bob: RoleClient) -> None:
    for name in ("confirm", "decline"):
        assert bob.get(f"{VERSIONS}{uuid.uuid4()}/{name}/").status_code == 404
