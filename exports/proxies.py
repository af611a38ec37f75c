"""Where a request comes from, when it comes through proxies: for throttling sign-ins, never for deciding who may."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Final

from exports.conf import limits

if TYPE_CHECKING:
    from django.http import HttpRequest

ONE_CUSTOMER: Final = 64
"""Bits of an IPv6 address that a provider hands to one customer; who has it has all addresses below it."""


def client_address(request: HttpRequest) -> str | None:
    """Return the address of the client, or None where none is known (a Unix socket without a proxy).

    Each of the EXPORT_PROXY_COUNT proxies has appended the address it was called from to X-Forwarded-For; what
    stands further left is the client's own word and is not read. With no proxy the header is not read at all.
    """
    told = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    hops = [*told, request.META.get("REMOTE_ADDR", "")][-limits().proxy_count - 1 :]
    return _address(hops[0]) or _address(hops[-1])


def _address(text: str) -> str | None:
    try:
        address = ip_address(text.strip())
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(IPv6Network((int(address), ONE_CUSTOMER), strict=False).network_address)
    return str(address.ipv4_mapped if isinstance(address, IPv6Address) else address)
