"""How long a sign-in lasts: a working day at most, less when nobody does anything (SECURITY: a stolen session).

What a page asks for by itself, to stay fresh, is not somebody doing something.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in

from exports.admin.frame import PART
from exports.conf import limits

if TYPE_CHECKING:
    from django.http import HttpRequest

SIGNED_IN_AT: Final = "signed_in_at"
SEEN_AT: Final = "seen_at"
"""Seconds since 1970, by the clock that all web processes share: one process may begin what another ends."""

NOTED_EVERY_SECONDS: Final = 60
"""How exact `seen_at` is: one write a minute of use, instead of one a request."""


def begin(request: HttpRequest, **_: Any) -> None:
    """Note when somebody signed in (receiver of user_logged_in)."""
    request.session[SIGNED_IN_AT] = request.session[SEEN_AT] = int(time.time())


def end_if_over(request: HttpRequest) -> None:
    """Sign out whoever did nothing for too long, or is signed in for too long; else note that they do something."""
    if not request.user.is_authenticated:
        return
    now = int(time.time())
    if _is_over(request, now):
        logout(request)
    elif PART not in request.headers and now - request.session[SEEN_AT] >= NOTED_EVERY_SECONDS:
        request.session[SEEN_AT] = now


def _is_over(request: HttpRequest, now: int) -> bool:
    """Tell whether either time has run out; a session that does not know its times has none left."""
    idle = now - request.session.get(SEEN_AT, 0)
    whole = now - request.session.get(SIGNED_IN_AT, 0)
    return bool(idle > limits().idle_seconds or whole > limits().session_seconds)


def connect() -> None:
    """Note every sign-in; called when a site is made."""
    user_logged_in.connect(begin, dispatch_uid="exports.signed_in.begin")
