"""Contracts: what the smallest one is, that it survives JSON, and that every nonsense is named by its field."""

import json
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.contracts import LARGEST_REQUEST_BYTES, Contract, ContractError, PublishMode

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJDbUOXyb0lPTjZBnsfRXL9B6nFLKIbKUzLhUmRGQ1p2"

SMALLEST: dict[str, Any] = {
    "endpoint": {"host": "sftp.partner.example"},
    "auth": {"user": "crm", "secret_id": "4f6c"},
    "host_keys": [{"key": HOST_KEY}],
    "paths": {"directory": "/upload"},
}


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the smallest contract with one field set."""
    raw = deepcopy(SMALLEST)
    *groups, last = path.split(".")
    group = raw
    for name in groups:
        group = group.setdefault(name, {})
    group[last] = value
    return raw


def errors(raw: object) -> dict[str, list[str]]:
    """Return the errors a contract is refused with."""
    with pytest.raises(ContractError) as caught:
        Contract.from_json(raw)
    return caught.value.errors


def test_the_smallest_contract_is_host_user_secret_key_and_directory() -> None:
    contract = Contract.from_json(SMALLEST)
    assert contract.endpoint.port == 22
    assert contract.publish.mode is PublishMode.HARDLINK_REMOVE
    assert contract.final_name("0b5e") == "contacts-0b5e.csv"
    assert not contract.verification.publish_reply_is_proof
    assert not contract.verification.name_and_size_identifies


def test_a_contract_survives_its_own_json() -> None:
    raw = changed("host_keys", [{"key": HOST_KEY, "valid_to": "2030-01-01T00:00:00+00:00", "source": "phone"}])
    raw["companions"] = [{"suffix": ".sha256", "content": "sha256sum"}, {"suffix": ".fin"}]
    raw["payload"] = {"columns": ["email", "name"], "filters": [{"column": "country", "value": "FR"}]}
    contract = Contract.from_json(raw)
    assert Contract.from_json(json.loads(json.dumps(contract.to_json()))) == contract


def test_a_mounted_share_needs_neither_host_nor_key() -> None:
    raw = {"endpoint": {"kind": "directory"}, "paths": {"directory": "/mnt/partner"}}
    assert Contract.from_json(raw).endpoint.host == ""


NAMED_ELSEWHERE = {"permissions.may_delete": "publish.mode"}
"""A field that is fine by itself; the error is at what it contradicts."""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("endpoint.host", ""),
        ("endpoint.host", "-oProxyCommand=x"),
        ("endpoint.host", "a b"),
        ("endpoint.host", "a..b"),
        ("endpoint.host", "127.1"),
        ("endpoint.host", "0x7f000001.1"),
        ("endpoint.host", "fe80::1%eth0"),
        ("endpoint.host", "x" * 254),
        ("endpoint.host", 5),
        ("endpoint.port", 0),
        ("endpoint.port", 65_536),
        ("endpoint.port", True),
        ("endpoint.port", "22"),
        ("endpoint.kind", "ftp"),
        ("auth.user", ""),
        ("auth.user", "a\nb"),
        ("auth.method", "agent"),
        ("auth.expires_at", "2030-01-01T00:00:00"),
        ("host_keys", []),
        ("host_keys", [None, 5]),
        ("paths.directory", ""),
        ("paths.directory", "/upload/../etc"),
        ("paths.directory", "a//b"),
        ("paths.directory", "a/./b"),
        ("paths.directory", "a\\b"),
        ("paths.directory", "a\x00b"),
        ("paths.temporary_suffix", "/x"),
        ("paths.final_prefix", "../"),
        ("limits.request_bytes", LARGEST_REQUEST_BYTES + 1),
        ("limits.max_outstanding_writes", 65),
        ("limits.attempt_deadline_seconds", 0),
        ("limits.max_connections", 0),
        ("publish.mode", "rename_noreplace"),
        ("publish.mode", "direct_write"),
        ("permissions.may_delete", False),
        ("verification.read_back", True),
        ("verification.acknowledgment", {"kind": "file_appears"}),
        ("verification.acknowledgment", {"kind": "file_renamed"}),
        ("verification.acknowledgment", {"kind": "marker_disappears", "suffix": ".done"}),
        ("verification.acknowledgment", {"kind": "file_appears", "suffix": ".ack", "negative_suffix": ".ack"}),
        ("payload.delimiter", "ab"),
        ("payload.columns", ["a", "a"]),
        ("companions", [{"suffix": ".a"}, {"suffix": ".a"}]),
        ("colour", "blue"),
        ("paths.colour", "blue"),
        ("format", 2),
    ],
)
def test_nonsense_is_refused_and_named(path: str, value: object) -> None:
    wanted = NAMED_ELSEWHERE.get(path, path)
    assert any(name == wanted or name.startswith(f"{wanted}.") for name in errors(changed(path, value)))


@pytest.mark.parametrize(
    "key",
    [
        "",
        "ssh-ed25519",
        "ssh-dss AAAAB3NzaC1kc3M=",
        "ssh-ed25519 !!!!",
        "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIJDbUOXyb0lPTjZBnsfRXL9B6nFLKIbKUzLhUmRGQ1p2",
        "ssh-ed25519 " + "A" * 20_000,
    ],
)
def test_a_host_key_must_be_a_public_key_of_the_type_it_names(key: str) -> None:
    assert "host_keys.0.key" in errors(changed("host_keys", [{"key": key}]))


def test_every_error_is_reported_at_once() -> None:
    raw = changed("endpoint.port", 0)
    raw["paths"]["directory"] = ".."
    raw["limits"] = {"request_bytes": 1}
    assert set(errors(raw)) == {"endpoint.port", "paths.directory", "limits.request_bytes"}


def test_a_rename_contract_is_accepted_once_a_probe_saw_the_refusal() -> None:
    raw = changed("publish", {"mode": "rename_noreplace", "probed": {"rename_refuses_existing": True}})
    assert Contract.from_json(raw).publish.mode is PublishMode.RENAME_NOREPLACE


def test_a_contract_that_could_never_prove_a_delivery_is_refused() -> None:
    assert "verification" in errors(changed("permissions.may_stat", False))  # noqa: FBT003 - a JSON value


def test_a_rename_within_a_share_is_refused_because_it_replaces() -> None:
    raw = {
        "endpoint": {"kind": "directory"},
        "paths": {"directory": "/mnt"},
        "publish": {"mode": "rename_noreplace", "probed": {"rename_refuses_existing": True}},
    }
    assert "publish.mode" in errors(raw)


def test_a_pinned_key_is_trusted_only_within_its_time() -> None:
    until = "2030-01-01T00:00:00+00:00"
    key = Contract.from_json(changed("host_keys", [{"key": HOST_KEY, "valid_to": until}])).host_keys[0]
    assert key.valid_at(datetime(2029, 12, 31, tzinfo=UTC))
    assert not key.valid_at(datetime(2030, 1, 1, tzinfo=UTC))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=5,
)
groups = st.sampled_from([*Contract.__dataclass_fields__, "format"])


@given(st.dictionaries(groups, json_values, max_size=3))
def test_any_json_is_a_contract_or_a_contract_error(raw: dict[str, Any]) -> None:
    try:
        contract = Contract.from_json({**SMALLEST, **raw})
    except ContractError:
        return
    assert Contract.from_json(contract.to_json()) == contract


@given(st.text(max_size=40))
def test_no_accepted_directory_leaves_its_place(directory: str) -> None:
    try:
        contract = Contract.from_json(changed("paths.directory", directory))
    except ContractError:
        return
    parts = contract.paths.directory.split("/")
    assert ".." not in parts
    assert "\x00" not in contract.paths.directory
