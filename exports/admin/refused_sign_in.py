"""What somebody is told whose name was tried too often from their address."""

from __future__ import annotations

import logging
from math import ceil
from typing import TYPE_CHECKING, Any

from django.shortcuts import render

from exports.conf import limits

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)


def too_many_failures(request: HttpRequest, *_: Any) -> HttpResponse:
    """Return the page for a sign-in that was not even looked at; the same whether or not the name exists."""
    seconds = ceil(limits().sign_in_wait_seconds)
    logger.warning("sign_in_refused", extra={"retry_after_seconds": seconds})
    answer = render(request, "429.html", {"minutes": ceil(seconds / 60)}, status=429)
    answer["Retry-After"] = str(seconds)
    return answer
