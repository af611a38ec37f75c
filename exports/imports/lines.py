"""A file's lines as text: bounded, decoded and numbered, before anything tries to understand them."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, BinaryIO, Final

from exports.imports.problems import ImportRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.imports.problems import Problems

ENCODINGS: Final = ("utf-8", "windows-1252", "iso-8859-1", "iso-8859-15")
"""Encodings in which a line feed is one byte, and so a line can be found before it is decoded."""

MOST_LINE_BYTES: Final = 1024 * 1024
"""A contact has eight columns; a line of a mebibyte is no CSV, and reading on for its end would fill the memory."""

_OTHER_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def lines_of(file: BinaryIO, encoding: str, problems: Problems) -> Iterator[str]:
    """Yield each line with its end; one that is not in `encoding` becomes a problem and goes on with marks in it.

    ImportRefused where going on makes no sense: a line without end, or another kind of file.
    """
    number = 0
    while raw := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        _refuse_other_files(raw, number)
        yield _decoded(_without_mark(raw) if number == 1 else raw, encoding, number, problems)


def _refuse_other_files(raw: bytes, number: int) -> None:
    if len(raw) > MOST_LINE_BYTES:
        raise ImportRefused(f"Line {number} is longer than {MOST_LINE_BYTES} bytes: this is not a CSV of contacts.")
    if number == 1 and raw.startswith(_OTHER_MARKS):
        raise ImportRefused("The file is in UTF-16; save it as CSV in UTF-8.")


def _without_mark(raw: bytes) -> bytes:
    return raw.removeprefix(codecs.BOM_UTF8)


def _decoded(raw: bytes, encoding: str, number: int, problems: Problems) -> str:
    if b"\0" in raw:
        problems.add(number, "holds a NUL byte")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        problems.add(number, f"is not {encoding}; say --encoding if the file is in another one")
        return raw.decode(encoding, "replace")
