"""Files of contacts as a user brings them, imported as the console's role does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from exports.imports.contacts import import_contacts
from exports.imports.problems import ImportRefused
from exports.imports.records import Format
from exports.models import Contact
from tests.worker import contacts

if TYPE_CHECKING:
    from pathlib import Path

    from exports.imports.load import Loaded

SECRET = "private@example.org"
"""What stands in a file and must not stand in any words about it."""


def stored(*columns: str) -> list[tuple[Any, ...]]:
    found = Contact.objects.order_by("tenant__slug", "external_id")
    return list(found.values_list("tenant__slug", *(columns or contacts.COLUMNS)))


@dataclass
class Files:
    """Writes files and imports them as the console's role does."""

    directory: Path

    def write(self, content: str | bytes) -> Path:
        path = self.directory / "contacts.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def load(self, content: str | bytes, **form: Any) -> Loaded:
        return import_contacts(self.write(content), "acme", Format(**form), using="api").loaded

    def refusal(self, content: str | bytes, **form: Any) -> str:
        """Return the words of a refusal, after making sure that they quote nobody and nothing was loaded."""
        before = stored()
        with pytest.raises(ImportRefused) as refused:
            self.load(content, **form)
        assert stored() == before
        assert SECRET not in str(refused.value)
        return str(refused.value)
