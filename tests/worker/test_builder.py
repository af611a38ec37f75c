"""What the builder writes, against a real PostgreSQL: exactly the contacts, in the contract's dialect."""

from __future__ import annotations

import csv
import hashlib
import io
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from exports.contracts import Filter, FilterOperator, LineEnd, Payload
from exports.errors import ExportBuildException
from tests.worker import contacts
from tests.worker.building import a_build, content, everything_said, text_of, use_source

if TYPE_CHECKING:
    from exports.models import Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "worker"])


def test_a_hundred_thousand_awkward_contacts_are_exact_to_the_byte_and_read_back_equal(tenant: Tenant) -> None:
    rows = list(contacts.awkward_rows(100_000))
    contacts.load(tenant, rows)

    file = a_build(tenant)

    expected = contacts.csv_file(rows).encode()
    assert content(file) == expected
    assert (file.rows, file.bytes) == (100_000, len(expected))
    assert file.sha256 == hashlib.sha256(expected).digest()
    with file.path.open(newline="", encoding="utf-8") as opened:
        assert list(csv.reader(opened, strict=True)) == [list(contacts.COLUMNS), *map(list, rows)]


@pytest.mark.parametrize("line_end", LineEnd)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_what_python_reads_back_is_what_was_stored(tenant: Tenant, delimiter: str, line_end: LineEnd) -> None:
    rows = list(contacts.awkward_rows(2_000))
    contacts.load(tenant, rows)

    text = text_of(tenant, delimiter=delimiter, line_end=line_end)

    read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    assert read == [list(contacts.COLUMNS), *map(list, rows)]


def test_crlf_ends_every_line_and_leaves_line_breaks_inside_cells_alone(tenant: Tenant) -> None:
    rows = list(contacts.awkward_rows(5_000))
    contacts.load(tenant, rows)

    file = a_build(tenant, Payload(line_end=LineEnd.CRLF))

    assert content(file) == contacts.csv_file(rows, end="\r\n").encode()
    assert file.bytes == len(content(file))


@pytest.mark.parametrize("line_end", LineEnd)
def test_a_file_of_many_blocks_has_a_line_end_between_each_two(tenant: Tenant, line_end: LineEnd) -> None:
    rows = [(f"{at:07}", *("x" * 100,) * 7) for at in range(3_000)]
    contacts.load(tenant, rows)

    text = text_of(tenant, line_end=line_end)

    assert text == contacts.csv_file(rows, end={"lf": "\n", "crlf": "\r\n"}[line_end])


def test_the_mark_of_utf_8_sig_is_part_of_the_file_and_of_its_hash(tenant: Tenant) -> None:
    contacts.load(tenant, rows := list(contacts.awkward_rows(3)))

    file = a_build(tenant, Payload(encoding="utf-8-sig"))

    assert content(file) == contacts.csv_file(rows).encode("utf-8-sig")
    assert file.sha256 == hashlib.sha256(content(file)).digest()
    assert file.bytes == len(content(file))


@pytest.mark.parametrize(("encoding", "python_name"), [("latin-1", "iso-8859-1"), ("windows-1252", "cp1252")])
def test_single_byte_encodings_are_python_s_own(tenant: Tenant, encoding: str, python_name: str) -> None:
    every = [bytes([byte]).decode(python_name, "ignore") for byte in range(1, 256)]
    rows = [(f"{at:03}", char, *("ü",) * 6) for at, char in enumerate(every) if char]
    contacts.load(tenant, rows)

    file = a_build(tenant, Payload(encoding=encoding))

    assert content(file) == contacts.csv_file(rows).encode(python_name)


@pytest.mark.parametrize("header", [True, False])
def test_a_character_the_encoding_lacks_is_reported_by_its_row_and_never_shown(tenant: Tenant, header: bool) -> None:  # noqa: FBT001
    rows = [(f"{at:05}", "e", "", "", "", "", "", 'two\n"lines"\n') for at in range(5_000)]
    rows[4_321] = ("04321", "e", "", "", "", "", "", '"\n李\n')
    contacts.load(tenant, rows)

    with pytest.raises(ExportBuildException) as refused:
        a_build(tenant, Payload(encoding="latin-1", header=header))

    assert str(refused.value) == "Row 4322 holds a character that latin-1 cannot represent."
    assert "李" not in everything_said(refused.value)
    assert "e6 9d 8e" not in everything_said(refused.value)


def test_no_contacts_make_a_file_of_a_header_or_of_nothing(tenant: Tenant) -> None:
    with_header = a_build(tenant)
    without = a_build(tenant, Payload(header=False))

    assert (with_header.rows, content(with_header)) == (0, (",".join(contacts.COLUMNS) + "\n").encode())
    assert (without.rows, content(without), without.bytes) == (0, b"", 0)


def test_columns_come_in_the_contract_s_order(tenant: Tenant) -> None:
    contacts.load_one(tenant, "1", email="a@example.org", country="DE")

    assert text_of(tenant, columns=("country", "email")) == "country,email\nDE,a@example.org\n"


def test_rows_come_in_the_order_of_their_key(tenant: Tenant) -> None:
    for key in ("b", "c", "a"):
        contacts.load_one(tenant, key)

    assert text_of(tenant, columns=("external_id",), header=False) == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter("country", FilterOperator.EQUALS, "DE"), "1"),
        (Filter("country", FilterOperator.DIFFERS, "DE"), "23"),
        (Filter("country", FilterOperator.PRESENT), "12"),
        (Filter("country", FilterOperator.ABSENT), "3"),
        (Filter("country", FilterOperator.EQUALS, "' OR true --"), ""),
        (Filter("country", FilterOperator.EQUALS, "%s {} %(tenant_id)s"), ""),
    ],
)
def test_filters_choose_contacts(tenant: Tenant, wanted: Filter, found: str) -> None:
    for key, country in (("1", "DE"), ("2", "FR"), ("3", "")):
        contacts.load_one(tenant, key, country=country)

    text = text_of(tenant, columns=("external_id",), header=False, filters=(wanted,))

    assert "".join(text.split()) == found


def test_every_filter_has_to_hold(tenant: Tenant) -> None:
    contacts.load_one(tenant, "1", country="DE", email="a@example.org")
    contacts.load_one(tenant, "2", country="DE")
    both = (Filter("country", value="DE"), Filter("email", FilterOperator.PRESENT))

    assert text_of(tenant, columns=("external_id",), header=False, filters=both) == "1\n"


def test_only_the_tenant_s_own_contacts_are_in_its_file(tenant: Tenant) -> None:
    contacts.load_one(tenant, "ours")
    contacts.load_one(contacts.a_tenant("other"), "theirs")

    assert text_of(tenant, columns=("external_id",), header=False) == "ours\n"


FORMULAS = (
    "=1+1",
    "+49 170",
    "-1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "\nx",
    *(f"{wide}1" for wide in "\uff1d\uff0b\uff0d\uff20"),
)
HARMLESS = ("a=1", "'=1", " =1", "1-1", "", "ä@b")


def test_formulas_arrive_as_they_are_unless_the_contract_asks_otherwise(tenant: Tenant) -> None:
    rows = [(f"{at:02}", value, *("",) * 6) for at, value in enumerate(FORMULAS + HARMLESS)]
    contacts.load(tenant, rows)

    assert text_of(tenant) == contacts.csv_file(rows)


def test_spreadsheet_safe_disarms_every_formula_and_nothing_else(tenant: Tenant) -> None:
    rows = [(f"{at:02}", value, *("",) * 6) for at, value in enumerate(FORMULAS + HARMLESS)]
    contacts.load(tenant, rows)

    text = text_of(tenant, columns=("external_id", "email"), spreadsheet_safe=True)

    read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    disarmed = [f"'{value}" for value in FORMULAS] + list(HARMLESS)
    assert read == [["external_id", "email"], *([f"{at:02}", value] for at, value in enumerate(disarmed))]


def test_two_builds_of_the_same_contacts_are_the_same_file(tenant: Tenant) -> None:
    contacts.load(tenant, contacts.awkward_rows(1_000))

    assert a_build(tenant).sha256 == a_build(tenant).sha256


# Sources


def test_a_company_s_own_table_needs_one_small_class(tenant: Tenant, settings: Any) -> None:
    with connections["default"].cursor() as owner:
        owner.execute("CREATE SCHEMA crm")
        owner.execute("CREATE TABLE crm.people (id int, company uuid, email_address text, birthday date)")
        owner.execute("GRANT USAGE ON SCHEMA crm TO exports_worker; GRANT SELECT ON crm.people TO exports_worker")
        owner.execute("INSERT INTO crm.people VALUES (10, %s, NULL, '1999-12-31'), (9, %s, '', NULL)", [tenant.id] * 2)
        owner.execute("INSERT INTO crm.people VALUES (1, %s, 'theirs', NULL)", [uuid.uuid4()])
    use_source(settings, "CompanyPeople")
    try:
        assert text_of(tenant) == 'number,mail,born\n9,"",\n10,,1999-12-31\n'
    finally:
        with connections["default"].cursor() as owner:
            owner.execute("DROP SCHEMA crm CASCADE")


@pytest.mark.parametrize("terms", [{"columns": ("email", "shoe_size")}, {"filters": (Filter("shoe_size"),)}])
def test_an_unknown_column_is_named_together_with_those_there_are(tenant: Tenant, terms: dict[str, Any]) -> None:
    with pytest.raises(ExportBuildException, match=r"does not have: shoe_size\. It has: external_id, email, "):
        a_build(tenant, Payload(**terms))


def test_a_source_that_forgets_the_tenant_is_refused(tenant: Tenant, settings: Any) -> None:
    use_source(settings, "EveryTenant")

    with pytest.raises(ExportBuildException, match="does not restrict its contacts to one tenant"):
        a_build(tenant)


@pytest.mark.parametrize("name", ["Missing", "gone.Missing"])
def test_a_source_that_does_not_exist_is_named(tenant: Tenant, settings: Any, name: str) -> None:
    use_source(settings, name)

    with pytest.raises(ExportBuildException, match=f"EXPORT_SOURCE names tests.worker.sources.{name}, which cannot"):
        a_build(tenant)


def test_a_source_the_role_may_not_read_is_reported_with_the_cure(tenant: Tenant) -> None:
    with connections["default"].cursor() as owner:
        owner.execute("REVOKE SELECT ON contacts FROM exports_worker")
    try:
        with pytest.raises(ExportBuildException, match="may not read the contact source; grant it SELECT"):
            a_build(tenant)
    finally:
        with connections["default"].cursor() as owner:
            owner.execute("GRANT SELECT ON contacts TO exports_worker")
