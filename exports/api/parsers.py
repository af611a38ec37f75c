"""Bodies from strangers: UTF-8 JSON of bounded size, and text that a database can keep."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from exports.api.errors import TooLarge

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_BODY_BYTES = 64 * 1024
"""The largest request is a replacement's answers in a person's words; this is twenty pages of them."""

NOT_JSON = "The body is not JSON in UTF-8."


class BoundedJSONParser(BaseParser):
    """JSON as the standard has it, whatever character set the header claims.

    The framework's own parser lets deep nesting and escaped lone surrogates through as server errors.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - the interface's
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - the interface's
    ) -> Any:
        """Return the decoded body; raise ParseError or TooLarge, which say what to do."""
        raw = stream.read(LARGEST_BODY_BYTES + 1)
        if len(raw) > LARGEST_BODY_BYTES:
            raise TooLarge
        try:
            body = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
            json.dumps(body, ensure_ascii=False).encode("utf-8")
        except (ValueError, RecursionError) as error:
            raise ParseError(NOT_JSON) from error
        return body


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON's
