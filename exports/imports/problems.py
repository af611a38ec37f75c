"""What is wrong with a file: counted in full, told in part."""

from __future__ import annotations

from typing import Final

from exports.errors import ExportError

MOST_TOLD: Final = 20
"""A person corrects the first few and tries again; a wrong delimiter would otherwise fill the terminal."""


class ImportRefused(ExportError):  # noqa: N818 - a refusal, like the other members of the family
    """The file was not loaded; nothing has changed."""


class Problems:
    """Lines that cannot be used, in the order they were found."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._count = 0

    def add(self, line: int, words: str) -> None:
        """Note what is wrong with a line, counted from 1."""
        self._count += 1
        if self._count <= MOST_TOLD:
            self._told.append(f"  line {line}: {words}")

    def refuse_if_any(self) -> None:
        """Raise ImportRefused when there are any, with the first of them."""
        if self._count:
            one = self._count == 1
            more = [f"  and {self._count - MOST_TOLD} more"] if self._count > MOST_TOLD else []
            said = f"{self._count} problem{'' if one else 's'} in the file; nothing was loaded."
            raise ImportRefused("\n".join([said, *self._told, *more]))
