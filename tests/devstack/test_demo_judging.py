"""The demo calls an export as intended only if the partner's directory says the same as the row."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from config.devstack.demo.samples import Mismatch, exactly_one_file_with_the_recorded_hash, nothing_sent
from config.devstack.demo.table import table

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"a,b\n1,2\n"


def _row(key: str = "k1", *, content: bytes = CONTENT) -> dict[str, Any]:
    return {
        "delivery_key": key,
        "expected_file_name": f"contacts-{key}.csv",
        "expected_file_bytes": len(content),
        "expected_file_sha256": hashlib.sha256(content).hexdigest(),
    }


def _at_partner(directory: Path, *names: str, content: bytes = CONTENT) -> dict[str, Path]:
    for name in names:
        (directory / name).write_bytes(content)
    return {file.name: file for file in directory.iterdir()}


def test_the_file_of_the_row_with_its_hash_is_as_intended(tmp_path: Path) -> None:
    files = _at_partner(tmp_path, "contacts-k1.csv", "contacts-earlier.csv")
    assert "as recorded" in exactly_one_file_with_the_recorded_hash(_row(), files, [_row(), _row("earlier")])


@pytest.mark.parametrize(
    ("names", "content"),
    [
        pytest.param([], CONTENT, id="no file"),
        pytest.param(["contacts-k1.csv"], b"a,b\n1,3\n", id="same size, other bytes"),
        pytest.param(["contacts-k1.csv"], CONTENT + b"\n", id="a byte more"),
        pytest.param(["contacts-k1.csv", ".contacts-k1.csv.attempt.part"], CONTENT, id="a part left behind"),
        pytest.param(["contacts-k1.csv", "contacts-other.csv"], CONTENT, id="a file nobody sent"),
    ],
)
def test_anything_else_at_the_partner_is_not(tmp_path: Path, names: list[str], content: bytes) -> None:
    files = _at_partner(tmp_path, *names, content=content)
    with pytest.raises(Mismatch):
        exactly_one_file_with_the_recorded_hash(_row(), files, [_row()])


def test_a_rejected_export_must_leave_no_trace(tmp_path: Path) -> None:
    rejected = {"delivery_key": "k2", "expected_file_name": None}
    assert nothing_sent(rejected, _at_partner(tmp_path, "contacts-k1.csv"), [_row(), rejected])
    with pytest.raises(Mismatch):
        nothing_sent(rejected, _at_partner(tmp_path, "contacts-k2.csv"), [_row(), rejected])


def test_cells_with_several_lines_keep_their_columns() -> None:
    shown = table(("of", "what"), [["one\ntwo", "x"], ["three", "y"]])
    assert shown.splitlines() == ["of     what", "-----  ----", "one    x", "two", "three  y"]
