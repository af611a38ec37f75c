"""From nothing to a delivered file: two people, a real partner, a real worker's test and a real worker's delivery."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.conf import limits
from exports.contracts import Contract
from exports.models import Contact, Destination, DestinationContract, ProbeRequest
from exports.secrets import new_key
from exports.states import Status
from exports.worker import probes
from tests.console.pages import fields_of, fill, text_of
from tests.console.partner_fixtures import ann, bob
from tests.faults.fixtures import _no_session_outlives_its_test, spool, waking
from tests.faults.world import now
from tests.people import an_export

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount
    from exports.models import Tenant
    from tests.faults.waking import Waking
    from tests.routing import RoleClient

__all__ = ["_no_session_outlives_its_test", "ann", "bob", "spool", "waking"]

pytestmark = [
    pytest.mark.usefixtures("spool"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"]),
]

PLACES = "/admin/exports/destination/"
GROUP = "Export administrators"


@pytest.fixture(autouse=True)
def _keyring(settings: Any, spool: object) -> None:  # noqa: ARG001 - order: it sets the same settings
    settings.EXPORTS = replace(limits(), credential_keys=(new_key(),), allow_private_destinations=True)


def set_up(ann: RoleClient, partner: PartnerAccount) -> Destination:
    """Create the destination, its credential and the first version of its contract, as one person does."""
    fill(ann, f"{PLACES}new/", name="The mailing house")
    destination: Destination = Destination.objects.get()
    screens = f"{PLACES}{destination.id}"
    fill(ann, f"{screens}/credential/", user=partner.username, password=partner.password, reason="as they sent it")
    (partner.directory / "scratch").mkdir(exist_ok=True)
    written = fill(
        ann,
        f"{screens}/contract/",
        **{
            "endpoint.host": partner.host,
            "endpoint.port": str(partner.port),
            "auth.user": partner.username,
            "paths.directory": "/",
            "paths.scratch_directory": "/scratch",
            "permissions.may_read": "on",
            "verification.read_back": "on",
            "host_keys.0.key": partner.host_key,
            "reason": "agreed by mail",
        },
    )
    assert "Read it once more before it counts" in text_of(written), text_of(written)
    ann.post(f"{screens}/contract/", {**fields_of(written), "confirmed": "yes"})
    return destination


def test_a_partner_is_set_up_tested_confirmed_and_delivered_to(
    ann: RoleClient, bob: RoleClient, tenant: Tenant, partner: PartnerAccount, waking: Waking
) -> None:
    Contact.objects.create(tenant=tenant, external_id="1", email="one@example.org")
    destination = set_up(ann, partner)
    first = DestinationContract.objects.get()
    confirm = f"/admin/exports/destinationcontract/{first.id}/confirm/"
    probe = f"{PLACES}{destination.id}/probe/"
    early = bob.post(confirm, {"reason": "looks right"})
    assert (early.status_code, "The connection has not been tested yet" in text_of(early)) == (409, True)

    asked = fields_of(bob.get(probe))
    clicks = [bob.post(probe, asked) for _ in range(2)]
    assert [click.status_code for click in clicks] == [302, 302]
    request = ProbeRequest.objects.get()
    assert request.requested_by == "user:bob"
    followed = bob.get(probe)
    assert ("It waits for a worker." in text_of(followed), followed["Refresh"]) == (True, "2")
    probes.run(request.id, "worker")
    told = bob.get(probe)
    assert "Refresh" not in told
    assert "Compare its host key with the pinned ones ● as it should be" in text_of(told)
    assert "Nothing speaks against the latest version." in text_of(told)

    assert fill(bob, confirm, reason="compared with their letter").status_code == 302
    job = an_export(destination)
    waking.run(job)

    assert now(job).status == Status.COMPLETED
    assert (partner.directory / f"contacts-{job.delivery_key}.csv").exists()


def test_what_a_test_saw_is_kept_with_the_next_version_and_not_carried_to_another_server(
    ann: RoleClient, partner: PartnerAccount
) -> None:
    destination = set_up(ann, partner)
    screens = f"{PLACES}{destination.id}"
    ann.post(f"{screens}/probe/", fields_of(ann.get(f"{screens}/probe/")))
    probes.run(ProbeRequest.objects.get().id, "worker")

    for changed in ({"limits.max_running": "3"}, {"endpoint.host": "other.example.org"}):
        checked = fill(ann, f"{screens}/contract/", reason="x", **changed)
        ann.post(f"{screens}/contract/", {**fields_of(checked), "confirmed": "yes"})

    second, third = (
        Contract.from_json(each.terms) for each in DestinationContract.objects.filter(version__gt=1).order_by("version")
    )
    assert second.publish.probed.link_is_honest
    assert second.publish.probed.probed_at is not None
    assert third.endpoint.host == "other.example.org"
    assert third.publish.probed.probed_at is None
