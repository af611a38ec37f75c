"""Setting a partner up: its contract filled in, checked and proposed, its credential sealed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from django.contrib.admin.models import LogEntry

from exports.actions.propose_contract import Proposed, propose_contract
from exports.admin.agreed.fields import GROUPS, SERVER_SET, Rows
from exports.admin.agreed.plain import all_paths
from exports.contracts import (
    Contract,
)
from exports.models import Destination, DestinationContract, DestinationSecret
from exports.secrets import decrypt
from tests.agreed.agreeing import ANN, confirm, in_force, proposal, propose
from tests.console.pages import fields_of, fill, text_of
from tests.console.partner_fixtures import _nothing_speaks_against_it, ann, bob, keyring
from tests.console.partners import FINGERPRINT, FIRST, PASSWORD, PLACES, RICH, screen, version_screen, write
from tests.people import an_export
from tests.recovery import lives
from tests.test_contracts import HOST_KEY

if TYPE_CHECKING:
    from exports.models import Tenant
    from tests.routing import RoleClient


__all__ = ["_nothing_speaks_against_it", "ann", "bob", "keyring"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


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


def test_every_field_of_a_contract_has_its_words() -> None:
    worded = set()
    for part in (part for group in GROUPS for part in group.parts):
        if isinstance(part, Rows):
            worded |= {f"{part.path}.{one.path}" for one in part.fields}
        else:
            worded.add(part.path)

    server_set = {path for path in all_paths() if any(path == at or path.startswith(f"{at}.") for at in SERVER_SET)}
    assert worded == all_paths() - server_set
