"""The second factor: six digits from an app that only its owner has (SECURITY: a stolen session).

Who signs in without one sets it up first; until it is given, no page of the console opens. Losing it is for an
administrator to undo (`reset_second_factor`), on record: codes on paper would be a second password.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import django_otp
from django.contrib.auth.models import User
from django.db import router, transaction
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

from exports.actions.reset_second_factor import SET_UP, record_of_factor
from exports.conf import limits

if TYPE_CHECKING:
    from django.http import HttpRequest

logger = logging.getLogger(__name__)

KEY: Final = "second_factor_key"
"""Where a session keeps the key that is being set up: it counts once a code of it was given."""
GIVEN_AT: Final = "second_factor_at"
"""When the factor was given last, in seconds since 1970 by the clock that all web processes share."""
KEY_BYTES: Final = 20  # what RFC 4226 recommends

UNNOTICED_SECONDS: Final = 5
"""A wait that is over before anybody has typed the next code; each wrong one in a row doubles it, from one second."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """The code was not taken; `wait_seconds` is how long none will be, after several wrong ones."""

    wait_seconds: int = 0

    @property
    def words(self) -> str:
        """What a person is told."""
        if self.wait_seconds > UNNOTICED_SECONDS:
            return f"Too many wrong codes. Try again in {self.wait_seconds} s, with the code shown then."
        return "This code is wrong, or it was used before. Wait for the next one."


def is_given(request: HttpRequest) -> bool:
    """Tell whether this session has given its second factor, or none is asked for."""
    return not limits().second_factor or bool(request.user.is_verified())  # type: ignore[union-attr] # the middleware's


def is_fresh(request: HttpRequest) -> bool:
    """Tell whether it was given so recently that nobody else can have come to the keyboard since."""
    age = time.time() - request.session.get(GIVEN_AT, 0)
    return is_given(request) and (not limits().second_factor or age < limits().step_up_seconds)


def device_of(user: Any) -> TOTPDevice | None:
    """Return a person's second factor."""
    found: TOTPDevice | None = TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).first()
    return found


def new_key(request: HttpRequest) -> str:
    """Return the key that this session is setting up, the same until it is done."""
    key: str = request.session.setdefault(KEY, random_hex(KEY_BYTES))  # type: ignore[no-untyped-call] # the library's own
    return key


def give(request: HttpRequest, code: str) -> Wrong | None:
    """Take a code; return what was wrong with it. A code is taken once, and each wrong one doubles a wait."""
    with transaction.atomic(using=router.db_for_write(TOTPDevice), durable=True):
        # Locked, so that of two requests with one code the second finds it used.
        device = TOTPDevice.objects.select_for_update().filter(user_id=request.user.pk, confirmed=True).first()
        is_right = device is not None and device.verify_token(code)
    if device is not None and is_right:
        _remember(request, device)
        return None
    logger.warning("second_factor_refused", extra={"failures": device.throttling_failure_count if device else 0})
    return Wrong(_wait(device) if device else 0)


def set_up(request: HttpRequest, code: str) -> Wrong | None:
    """Keep the key of this session as the person's factor if the code is of it; a second one is never added."""
    with transaction.atomic(using=router.db_for_write(TOTPDevice), durable=True):
        # Two windows setting up at once: the second waits here and then finds the first's.
        owner = User.objects.select_for_update().get(username=request.user.get_username())
        if device_of(owner) is not None:
            return Wrong()
        device = TOTPDevice.objects.create(user=owner, name="app", key=new_key(request))
        if not device.verify_token(code):
            transaction.set_rollback(True, using=router.db_for_write(TOTPDevice))
            return Wrong()
        record_of_factor(owner, owner, SET_UP)
    _remember(request, device)
    return None


def _remember(request: HttpRequest, device: TOTPDevice) -> None:
    django_otp.login(request, device)  # type: ignore[no-untyped-call] # the library's own
    request.session.pop(KEY, None)
    request.session[GIVEN_AT] = int(time.time())


def _wait(device: TOTPDevice) -> int:
    allowed, why = device.verify_is_allowed()  # type: ignore[no-untyped-call] # the library's own
    return 0 if allowed else ceil((why["locked_until"] - timezone.now()).total_seconds())
