"""Where a name may lead: public addresses, and what a policy allows besides; never inward by another spelling."""

import socket
import threading
import time
from typing import Any

import pytest

from exports.destinations.addresses import AddressError, AddressPolicy, resolve

INWARD = [
    "127.0.0.1",
    "127.8.8.8",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",  # noqa: S104 - an address to refuse, not to bind
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
]


@pytest.mark.parametrize("address", INWARD)
def test_an_address_that_leads_inward_is_not_allowed(address: str) -> None:
    assert not AddressPolicy().allows(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_a_public_address_is_allowed(address: str) -> None:
    assert AddressPolicy().allows(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fc00::1", "::ffff:127.0.0.1"])
def test_a_setting_can_allow_private_addresses(address: str) -> None:
    assert AddressPolicy.allowing_private().allows(address)


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1", "240.0.0.1", "224.0.0.1"])
def test_that_setting_allows_neither_link_local_nor_meaningless_addresses(address: str) -> None:
    assert not AddressPolicy.allowing_private().allows(address)


def answering(*addresses: str) -> Any:
    """Return a resolver that answers with these addresses."""

    def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        del host
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return getaddrinfo


def test_of_several_addresses_only_the_allowed_ones_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answering("127.0.0.1", "8.8.8.8", "10.0.0.1"))
    assert resolve("partner.example", 22, AddressPolicy(), 5) == [("8.8.8.8", 22)]


def test_a_name_with_no_allowed_address_says_where_it_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answering("10.0.0.1"))
    with pytest.raises(AddressError, match=r"10\.0\.0\.1") as caught:
        resolve("partner.example", 22, AddressPolicy(), 5)
    assert not caught.value.allowed


def test_a_resolver_that_never_answers_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    def hanging(*_: Any, **__: Any) -> list[Any]:
        never.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    began = time.monotonic()
    with pytest.raises(AddressError, match="not resolved in"):
        resolve("partner.example", 22, AddressPolicy(), 0.2)
    never.set()
    assert time.monotonic() - began < 5
