"""What a stranger sent, made fit to be stored, logged and shown: bounded, decoded, with its tricks visible.

A partner's texts and names are bytes from a stranger. Control characters could forge a log line or a
terminal's colours, direction marks could turn a name around on the screen; they are shown as marks instead.
"""

import unicodedata
from functools import cache
from typing import Annotated, Any, Final, get_origin, get_type_hints

MOST: Final = 500
"""Characters kept of one text; more tells an operator nothing and costs every page that shows it."""

Text = Annotated[str, MOST]
"""A stranger's text in a record."""

Name = Annotated[str, 255]
"""A stranger's name for something, or a reference somebody typed; 255 is what file systems take."""

_MARKED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_PICTURES: Final = 0x2400
_FIRST_PRINTABLE: Final = 0x20
_LONGEST_CHARACTER: Final = 4  # bytes of one character in UTF-8


def shown(raw: bytes | str, most: int = MOST) -> str:
    """Return `raw` as at most `most` printable characters; what was cut or not text is visible as such."""
    # Cut before decoding, so that a megabyte of garbage costs no more than a sentence.
    text = raw[: (most + 1) * _LONGEST_CHARACTER]
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    text_shown = decoded[: most + 1]
    marked = text_shown if text_shown.isprintable() else "".join(map(_mark, text_shown))
    whole = len(marked) <= most and len(decoded) <= most
    return marked if whole else marked[: most - 1] + "…"


def _mark(character: str) -> str:
    if unicodedata.category(character) not in _MARKED:
        return character
    code = ord(character)
    return chr(_PICTURES + code) if code < _FIRST_PRINTABLE else f"<U+{code:04X}>"


class Shown:
    """Base of records that keep a stranger's texts: no instance ever holds one in any other form."""

    def __post_init__(self) -> None:
        """Replace every `Text` and `Name` with its bounded, marked form."""
        owner: Any = type(self)
        for name, most in _bounds(owner).items():
            object.__setattr__(self, name, shown(getattr(self, name), most))


@cache
def _bounds(owner: type) -> dict[str, int]:
    hints = get_type_hints(owner, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}
