"""The id of a click: the same however often its page is opened, so that one decision is one request (I9).

Two tabs, the back button, a double click and a retry after a lost answer all carry one id, and all are shown the one
recorded answer. A person who means to ask again says so; that is the next number.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

NUMBER = "click"
"""The parameter that says which of several deliberate requests this is."""
MOST = 1_000
"""Deliberate requests of one person about one export in one sign-in; nobody means more."""

_ID_BYTES = 16


def number_of(request: HttpRequest) -> int:
    """Return which deliberate request a page is for; the first unless the address says otherwise."""
    asked = request.GET.get(NUMBER, "")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < len(str(MOST)) else 1


def minted(request: HttpRequest, verb: str, subject: object) -> UUID:
    """Return the id for this person's use of a verb on something, from their sign-in: nobody else can guess it."""
    meant = ":".join((str(request.session.session_key), verb, str(subject), str(number_of(request))))
    digest = salted_hmac("exports.admin.clicks", meant, algorithm="sha256").digest()
    return uuid.UUID(bytes=digest[:_ID_BYTES], version=4)


def another(request: HttpRequest) -> str:
    """Return the query string of the same page for a request that is meant anew."""
    return f"?{NUMBER}={number_of(request) + 1}"
