"""One family of errors; a docstring is the message when none is given."""

from __future__ import annotations


class ExportError(Exception):
    """Something about an export could not be done."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class ExportBuildException(ExportError):  # noqa: N818 - the reference's name
    """The file could not be built; nothing has left the process."""


class BuildStopped(ExportError):  # noqa: N818 - an ordinary end, not a fault
    """The build was stopped on request; its partial file is removed."""


class AppendOnly(ExportError):  # noqa: N818 - a rule, stated as one
    """Rows of this table are written by statements of exports/sql only, and never changed."""
