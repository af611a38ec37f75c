"""A second factor of a person, and the codes that its app would show."""

from __future__ import annotations

import time
from base64 import b32decode
from typing import TYPE_CHECKING

from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

if TYPE_CHECKING:
    from django.contrib.auth.models import User

STEP_SECONDS = 30


def a_factor(person: User) -> TOTPDevice:
    device: TOTPDevice = TOTPDevice.objects.create(user=person, name="app")
    return device


def code_of(device: TOTPDevice, *, ahead: int = 0) -> str:
    """Return the code of this half minute, or of the one so many ahead: a used one is not taken again."""
    return _code(device.bin_key, ahead)


def code_of_letters(letters: str) -> str:
    """Return what an app would show into which somebody typed this key."""
    return _code(b32decode(letters.replace(" ", "")), 0)


def _code(key: bytes, ahead: int) -> str:
    totp = TOTP(key)  # type: ignore[no-untyped-call] # the library's own
    totp.time = time.time() + ahead * STEP_SECONDS
    return f"{totp.token():06}"  # type: ignore[no-untyped-call] # the same
