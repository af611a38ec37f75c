"""Who may see which tenant, and under which name somebody acts."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from exports.access import actor_name, reach_of
from exports.models import Destination
from tests.people import a_caller, a_destination, a_person, a_tenant

pytestmark = pytest.mark.django_db


def test_a_member_sees_the_tenants_of_their_memberships_and_no_other() -> None:
    mine, theirs = a_tenant(), a_tenant()
    destination, _ = a_destination(mine), a_destination(theirs)
    reach = reach_of(a_person(mine))

    assert reach.covers(mine.id)
    assert not reach.covers(theirs.id)
    assert list(reach.narrow(Destination.objects.all())) == [destination]


def test_a_superuser_sees_every_tenant() -> None:
    destination = a_destination(a_tenant())
    reach = reach_of(a_person(is_superuser=True))

    assert reach.covers(destination.tenant_id)
    assert list(reach.narrow(Destination.objects.all())) == [destination]


@pytest.mark.parametrize("is_superuser", [False, True])
def test_a_deactivated_person_sees_nothing(*, is_superuser: bool) -> None:
    tenant = a_tenant()
    a_destination(tenant)
    reach = reach_of(a_person(tenant, is_active=False, is_superuser=is_superuser))

    assert not reach.covers(tenant.id)
    assert not reach.narrow(Destination.objects.all()).exists()


def test_nobody_sees_nothing() -> None:
    a_destination(a_tenant())

    assert not reach_of(AnonymousUser()).narrow(Destination.objects.all()).exists()


def test_a_person_acts_under_their_user_name_and_a_client_under_its_own() -> None:
    caller = a_caller(a_tenant())

    assert actor_name(a_person(username="ann")) == "user:ann"
    assert actor_name(caller.user) == f"client:{caller.name}"
