"""The five groups stand after every migrate, each with exactly its permissions."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission

from exports.groups import make_groups

pytestmark = pytest.mark.django_db

EXPECTED = {
    "Export viewers": set(),
    "Export operators": {"cancel_exportjob", "change_terms_exportjob", "release_guard"},
    "Export replacement approvers": {"replace_exportjob"},
    "Reconciliation staff": {"reconcile_exportjob", "correct_exportjob"},
    "Export administrators": {
        "add_destination",
        "change_destination",
        "add_destinationcontract",
        "confirm_destinationcontract",
        "add_hold",
        "change_hold",
        "view_client",
        "add_client",
        "change_client",
        "view_membership",
        "add_membership",
        "delete_membership",
    },
}


def permissions(group: str) -> set[str]:
    return set(Group.objects.get(name=group).permissions.values_list("codename", flat=True))


def test_a_migrated_database_has_the_five_groups() -> None:
    assert set(Group.objects.values_list("name", flat=True)) == set(EXPECTED)


@pytest.mark.parametrize("group", EXPECTED)
def test_a_group_may_look_and_beyond_that_exactly_its_own(group: str) -> None:
    seeing = permissions("Export viewers")

    assert permissions(group) - seeing == EXPECTED[group]
    assert seeing <= permissions(group)


def test_looking_means_viewing_and_contacts_are_not_in_it() -> None:
    seeing = permissions("Export viewers")

    assert all(codename.startswith("view_") for codename in seeing)
    assert "view_exportjob" in seeing
    assert "view_contact" not in seeing


def test_nobody_of_the_five_may_change_or_delete_a_record_of_history() -> None:
    tables = (
        "exportjob",
        "exportattemptevent",
        "cancellationrequest",
        "delivery",
        "outboxmessage",
        "destinationcontract",
    )
    forbidden = {f"{verb}_{table}" for verb in ("change", "delete") for table in tables}

    assert not any(permissions(group) & forbidden for group in EXPECTED)


def test_made_again_the_groups_are_the_same_and_a_permission_slipped_in_is_gone() -> None:
    before = {group: permissions(group) for group in EXPECTED}
    viewers = Group.objects.get(name="Export viewers")
    viewers.permissions.add(Permission.objects.get(codename="view_contact"))

    make_groups(apps.get_app_config("exports"), using="default")

    assert {group: permissions(group) for group in EXPECTED} == before
