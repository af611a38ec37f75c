"""The import of one file for one tenant, from the path to the committed contacts."""

from __future__ import annotations

import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from django.db import DatabaseError, transaction

from exports.imports.load import Loaded, Loader
from exports.imports.problems import ImportRefused, Problems
from exports.imports.records import Format, Records
from exports.models import Tenant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

MOST_FILE_BYTES: Final = 2 * 1024**3
"""Some twenty million contacts: more than one transaction should write; a larger file can be cut into several."""

_BUSY: Final = frozenset({"55P03", "57014", "40P01"})


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; `left_out` are positions of columns in the file that a contact does not have."""

    loaded: Loaded
    left_out: list[int]


def import_contacts(path: Path, tenant_slug: str, form: Format, *, using: str = "default") -> Imported:
    """Load a file of contacts; ImportRefused says in one sentence, or by lines, why nothing was.

    The file is read twice, first to check it: a bad line in the middle is found before any contact is locked.
    """
    tenant_id = _tenant_id(tenant_slug, using)
    with _opened(path) as file:
        _check(file, form)
        return _load(file, form, tenant_id, using)


def _tenant_id(slug: str, using: str) -> UUID:
    tenant = Tenant.objects.using(using).filter(slug=slug).first()
    if tenant is None:
        raise ImportRefused(f"There is no tenant {slug!r}.")
    return tenant.id


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # Asked before it is opened: opening a pipe or a device may wait for ever, or never end.
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ImportRefused(f"{path} is not a file.")
        if found.st_size > MOST_FILE_BYTES:
            raise ImportRefused(f"{path} is larger than {MOST_FILE_BYTES} bytes; cut it into several files.")
        file = path.open("rb")
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        yield file


def _check(file: BinaryIO, form: Format) -> None:
    problems = Problems()
    for _ in Records(file, form, problems):
        pass
    problems.refuse_if_any()


def _load(file: BinaryIO, form: Format, tenant_id: UUID, using: str) -> Imported:
    """Write everything, or nothing: also when the file has changed since it was checked."""
    file.seek(0)
    problems = Problems()
    try:
        with transaction.atomic(using=using, durable=True):
            records = Records(file, form, problems)
            loaded = Loader(tenant_id, records.columns, problems, using).load(records)
            problems.refuse_if_any()
    except DatabaseError as error:
        raise ImportRefused(_words_for(error)) from None  # its own words may quote a contact
    return Imported(loaded, records.left_out)


def _words_for(error: DatabaseError) -> str:
    state = getattr(error.__cause__, "sqlstate", None)
    if state in _BUSY:
        return "Somebody else is changing the same contacts; nothing was loaded, try again."
    if state == "42501":
        return "The database role of this command may not write contacts; nothing was loaded."
    return f"The database refused the contacts (SQLSTATE {state}); nothing was loaded."
