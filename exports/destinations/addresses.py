"""Which address a destination's name may lead to: resolved once, checked, and connected to by that address.

A name in a contract could point, today or after a change of its DNS record, at this machine or at something
inside the network. So a name is resolved once, every address outside the policy is dropped, and the
connection goes to one of the addresses that were checked, never to the name again.
"""

import socket
import threading
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, cast

Network = IPv4Network | IPv6Network

SocketAddress = tuple[str, int] | tuple[str, int, int, int]

PRIVATE_NETWORKS: Final[tuple[Network, ...]] = tuple(
    ip_network(each) for each in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)
"""What a setting that allows private destinations allows: loopback and the private ranges, no more."""


@dataclass(frozen=True)
class AddressPolicy:
    """Public addresses are always allowed; others only when they lie in one of `also_allowed`."""

    also_allowed: tuple[Network, ...] = ()

    @classmethod
    def allowing_private(cls) -> "AddressPolicy":
        """Return the policy of a demo or of a partner inside the house."""
        return cls(PRIVATE_NETWORKS)

    def allows(self, address: str) -> bool:
        """Whether a connection to this numeric address is allowed."""
        parsed = ip_address(address.partition("%")[0])
        # ::ffff:127.0.0.1 reaches the same listener as 127.0.0.1, so it is judged as that address.
        mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
        judged = parsed if mapped is None else mapped
        listed = any(judged in network for network in self.also_allowed if network.version == judged.version)
        return listed or _is_public(judged)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address means one machine of the public network, in its plain spelling."""
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    if isinstance(address, IPv4Address):
        return True
    # 6to4 and Teredo carry an IPv4 address that nobody checked; NAT64 and its like are reserved ranges.
    return address.sixtofour is None and address.teredo is None and not address.is_site_local


class AddressError(Exception):
    """The name leads nowhere, or nowhere that is allowed."""

    def __init__(self, words: str, *, allowed: bool) -> None:
        self.allowed: Final = allowed
        super().__init__(words)


def resolve(host: str, port: int, policy: AddressPolicy, timeout_seconds: float) -> list[SocketAddress]:
    """Resolve `host` once and return the allowed addresses in the resolver's order; raises AddressError."""
    found = _lookup(host, port, timeout_seconds)
    allowed = [address for address in found if policy.allows(address[0])]
    if not allowed:
        words = f"{host} leads to {', '.join(address[0] for address in found)}, which is not allowed"
        raise AddressError(words, allowed=False)
    return allowed


def _lookup(host: str, port: int, timeout_seconds: float) -> list[SocketAddress]:
    """Ask the resolver in a thread of its own, since getaddrinfo itself cannot be given a bound."""
    answers: list[SocketAddress] = []
    failures: list[str] = []
    asking = threading.Thread(target=_ask, args=(host, port, answers, failures), daemon=True)
    asking.start()
    asking.join(timeout_seconds)
    if asking.is_alive():
        raise AddressError(f"the name {host} was not resolved in {timeout_seconds:g} s", allowed=True)
    if not answers:
        raise AddressError(f"the name {host} was not resolved: {''.join(failures)}", allowed=True)
    return answers


def _ask(host: str, port: int, answers: list[SocketAddress], failures: list[str]) -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        failures.append(str(error))
        return
    answers.extend(dict.fromkeys(cast("SocketAddress", each[4]) for each in found))
