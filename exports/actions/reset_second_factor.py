"""Take a lost second factor away, on record: its owner sets up a new one at the next sign-in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.contrib.admin.models import CHANGE, LogEntry
from django.db import router, transaction
from django_otp.plugins.otp_totp.models import TOTPDevice

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SET_UP: Final = "Second factor set up."
TAKEN_AWAY: Final = "Second factor taken away: {}"


def reset_second_factor(person: User, by: User, reason: str) -> bool:
    """Take it away; tell whether there was one. Sessions that have given it lose it with their next request."""
    with transaction.atomic(using=router.db_for_write(TOTPDevice), durable=True):
        removed, _ = TOTPDevice.objects.filter(user=person).delete()
        if removed:
            record_of_factor(person, by, TAKEN_AWAY.format(reason))
    return bool(removed)


def record_of_factor(person: User, by: User, what: str) -> None:
    """Keep what was done to a person's factor, and by whom, where the web process can only add."""
    LogEntry.objects.log_actions(by.pk, [person], CHANGE, change_message=what, single_object=True)
