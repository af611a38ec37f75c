"""import_contacts: a user's own file, loaded whole or not at all, with every refusal in words without values."""

from __future__ import annotations

import os
import threading
from io import StringIO
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from exports.imports import contacts as importing
from exports.imports import lines, load
from exports.imports.contacts import import_contacts
from exports.imports.load import Loaded
from exports.imports.problems import ImportRefused
from exports.imports.records import Format
from exports.models import Contact
from tests.contact_files import SECRET, Files, stored
from tests.worker import contacts
from tests.worker.building import until

if TYPE_CHECKING:
    from pathlib import Path

    from exports.models import Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])


@pytest.fixture
def tenant() -> Tenant:
    return contacts.a_tenant()


@pytest.fixture
def files(tmp_path: Path, tenant: Tenant) -> Files:  # noqa: ARG001 - every file is for this tenant
    return Files(tmp_path)


# What is loaded


def test_awkward_contacts_are_stored_exactly_as_they_are_written(files: Files) -> None:
    rows = list(contacts.awkward_rows(5_000))

    assert files.load(contacts.csv_file(rows)) == Loaded(new=5_000)
    assert stored() == [("acme", *row) for row in rows]


def test_what_an_export_wrote_can_be_loaded_again(files: Files, tenant: Tenant) -> None:
    rows = list(contacts.awkward_rows(1_000))
    contacts.load(tenant, rows)

    assert files.load(contacts.csv_file(rows)) == Loaded(updated=1_000)
    assert stored() == [("acme", *row) for row in rows]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_taken_from_the_first_line(files: Files, delimiter: str) -> None:
    rows = list(contacts.awkward_rows(200))

    files.load(contacts.csv_file(rows, delimiter=delimiter))

    assert stored() == [("acme", *row) for row in rows]


def test_a_delimiter_inside_a_quoted_name_does_not_count(files: Files) -> None:
    files.load('"id";"first, given, christian name";"email"\n1;x;a@example.org\n')

    assert stored("external_id", "email") == [("acme", "1", "a@example.org")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_of_both_kinds_and_a_byte_order_mark_are_understood(files: Files, mark: str, end: str) -> None:
    files.load(f"{mark}id,email{end}1,a@example.org{end}2,b@example.org")

    assert stored("external_id", "email") == [("acme", "1", "a@example.org"), ("acme", "2", "b@example.org")]


@pytest.mark.parametrize(
    ("encoding", "name"), [("windows-1252", "cp1252"), ("iso-8859-1", "latin-1"), ("iso-8859-15", "iso-8859-15")]
)
def test_other_encodings_are_read_when_named(files: Files, encoding: str, name: str) -> None:
    files.load("id,given_name\n1,Zoë Ünlü\n".encode(name), encoding=encoding)

    assert stored("given_name") == [("acme", "Zoë Ünlü")]


def test_columns_are_known_under_the_names_that_crms_give_them(files: Files) -> None:
    files.load(
        "Contact ID,E-Mail,First Name,LASTNAME,phone-number,Organisation,Country Code,Comments\n1,2,3,4,5,6,7,8\n"
    )

    assert stored() == [("acme", *"12345678")]


def test_a_name_told_goes_before_a_name_guessed(files: Files) -> None:
    files.load("id,nr,Mail,e-mail\n1,2,3,4\n", names={"NR": "external_id", " mail ": "email"})

    assert stored("external_id", "email") == [("acme", "2", "3")]


def test_columns_a_contact_does_not_have_are_left_out_and_said(files: Files) -> None:
    path = files.write("id,Birthday,email,Shoe Size\n1,private,a@example.org,46\n")

    assert import_contacts(path, "acme", Format(), using="api").left_out == [2, 4]


def test_a_known_contact_is_updated_and_keeps_what_the_file_does_not_say(files: Files, tenant: Tenant) -> None:
    contacts.load_one(tenant, "1", email="old@example.org", phone="+49")
    contacts.load_one(tenant, "3", email="untouched@example.org")

    assert files.load("id,email\n1,new@example.org\n2,b@example.org\n") == Loaded(new=1, updated=1)
    assert stored("external_id", "email", "phone") == [
        ("acme", "1", "new@example.org", "+49"),
        ("acme", "2", "b@example.org", ""),
        ("acme", "3", "untouched@example.org", ""),
    ]


def test_a_file_of_keys_alone_changes_no_known_contact(files: Files, tenant: Tenant) -> None:
    contacts.load_one(tenant, "1", email="a@example.org")

    assert files.load("id\n1\n2\n") == Loaded(new=1, updated=1)
    assert stored("external_id", "email") == [("acme", "1", "a@example.org"), ("acme", "2", "")]


def test_another_tenant_s_contact_with_the_same_key_is_not_touched(files: Files) -> None:
    contacts.load_one(contacts.a_tenant("other"), "1", email="theirs@example.org")

    files.load("id,email\n1,ours@example.org\n")

    assert stored("email") == [("acme", "ours@example.org"), ("other", "theirs@example.org")]


def test_empty_lines_are_passed_over(files: Files) -> None:
    assert files.load("id\n\n1\n\n\n2\n\n") == Loaded(new=2)


def test_no_contacts_are_loaded_from_a_header_alone(files: Files) -> None:
    assert files.load("id,email\n") == Loaded()


# What is refused


BAD_LINES = {
    "too few fields": ("id,email\n1,a\n2\n3,c\n", "line 3: has 1 fields where the first line has 2"),
    "too many fields": ("id,email\n1,a,x\n", "line 2: has 3 fields where the first line has 2"),
    "no key": (f"id,email\n1,a\n,{SECRET}\n", "line 3: has no external_id"),
    "a blank key": (f"id,email\n  \t,{SECRET}\n", "line 2: has no external_id"),
    "a NUL byte": (f"id,email\n1,{SECRET}\0\n", "line 2: holds a NUL byte"),
    "another encoding": (f"id,email\n1,a\n2,\udcfc{SECRET}\n", "line 3: is not utf-8; say --encoding"),
    "a field too long": (f"id,notes\n1,{SECRET * 2_000}\n", "line 2: has a notes of more than 32767 characters"),
    "the line where a long record begins": ('id,notes\n1,"a\nb\nc"\n2\n', "line 5: has 1 fields"),
    "after an empty line": ("id,notes\n\n\n2\n", "line 4: has 1 fields"),
    "a key twice": (f"id,email\n1,a\n2,b\n1,{SECRET}\n", "line 4: has the external_id of line 2"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named_by_its_number_and_nothing_is_loaded(files: Files, kind: str) -> None:
    content, words = BAD_LINES[kind]

    said = files.refusal(content.encode(errors="surrogateescape"))

    assert words in said
    assert said.startswith("1 problem in the file; nothing was loaded.\n  line ")


def test_bad_lines_are_told_up_to_a_bound_and_counted_beyond(files: Files) -> None:
    said = files.refusal("id,email\n" + "1\n" * 50)

    assert said.splitlines()[0] == "50 problems in the file; nothing was loaded."
    assert len(said.splitlines()) == 22
    assert said.endswith("  and 30 more")


def test_one_bad_line_at_the_end_of_many_keeps_all_of_them_out(files: Files) -> None:
    said = files.refusal(contacts.csv_file(contacts.awkward_rows(5_000)) + "short\n")

    assert "1 problem in the file" in said


def test_a_key_that_comes_again_thousands_of_lines_later_is_found(files: Files) -> None:
    rows = [f"{number},a" for number in range(3_500)]
    rows[3_400] = f"7,{SECRET}"

    said = files.refusal("id,email\n" + "\n".join(rows))

    assert "line 3402: has an external_id that stands further up in the file" in said


def test_a_key_that_comes_again_is_found_for_a_contact_known_before(files: Files, tenant: Tenant) -> None:
    contacts.load_one(tenant, "7", email="a")
    rows = [f"{number},a" for number in range(2_500)]
    rows[2_400] = f"7,{SECRET}"

    assert "line 2402: has an external_id that stands further up" in files.refusal("id,email\n" + "\n".join(rows))


def test_the_next_import_may_bring_the_same_keys_again(files: Files) -> None:
    content = "id,email\n" + "\n".join(f"{number},a" for number in range(2_500))

    assert files.load(content) == Loaded(new=2_500)
    assert files.load(content) == Loaded(updated=2_500)


REFUSED_FILES = {
    "an empty file": (b"", "The file is empty"),
    "an empty first line": (b"\nid\n1\n", "The file is empty, or its first line is"),
    "no header": (f"{SECRET},Ann\n".encode(), "No column in the first line is an external_id (or external_id, id, "),
    "UTF-16": ("id,email\n1,a\n".encode("utf-16"), "The file is in UTF-16; save it as CSV in UTF-8."),
    "an open quotation mark": (f'id,email\n1,a\n2,"{SECRET}\n'.encode(), "The record on line 3 (read up to line 3)"),
    "a broken quotation": (f'id,email\n1,"a"{SECRET}\n'.encode(), "its quotation marks do not match"),
    "a quotation that swallows the rest": (b'id,email\n1,"a\n' + b"2,b\n" * 50_000, "The record on line 2 (read up"),
    "an endless line": (b"id\n" + b"x" * (lines.MOST_LINE_BYTES + 10), "Line 2 is longer than 1048576 bytes"),
    "two columns for one": (b"mail,id,e-mail\n1,2,3\n", "Columns 1 and 3 of the file are both email"),
    "binary": (bytes(range(256)) * 10, "No column in the first line"),
}


@pytest.mark.parametrize("kind", REFUSED_FILES)
def test_what_is_no_file_of_contacts_is_refused_in_one_sentence(files: Files, kind: str) -> None:
    content, words = REFUSED_FILES[kind]

    said = files.refusal(content)

    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"nr": "external_id"}, "--map nr=external_id: the first line of the file has no such column."),
        ({"id": "shoe_size"}, "--map id=shoe_size: a contact has external_id, email, "),
    ],
)
def test_names_told_wrongly_are_refused(files: Files, names: dict[str, str], words: str) -> None:
    assert words in files.refusal(f"id,{SECRET}\n1,a\n", names=names)


def test_a_missing_tenant_is_named(files: Files) -> None:
    with pytest.raises(ImportRefused, match=r"^There is no tenant 'nobody'\.$"):
        import_contacts(files.write("id\n1\n"), "nobody", Format(), using="api")


@pytest.mark.usefixtures("tenant")
def test_a_missing_file_a_directory_and_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refusals = []
    for name in ("missing.csv", "", "pipe"):
        with pytest.raises(ImportRefused) as refused:
            import_contacts(tmp_path / name, "acme", Format(), using="api")
        refusals.append(str(refused.value))

    assert "cannot be read: No such file or directory." in refusals[0]
    assert refusals[1:] == [f"{tmp_path} is not a file.", f"{tmp_path / 'pipe'} is not a file."]


def test_a_file_larger_than_the_bound_is_refused_unread(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MOST_FILE_BYTES", 4)

    assert "is larger than 4 bytes; cut it" in files.refusal("id\n1\n2\n")


def test_a_file_that_changes_after_it_was_checked_is_not_half_loaded(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files.write("id,email\n" + "".join(f"{number},a\n" for number in range(2_500)))
    write = load.Loader._write

    def write_and_change(self: load.Loader, batch: Any) -> Any:
        with path.open("ab") as file:
            file.write(b"short\n")
        return write(self, batch)

    monkeypatch.setattr(load.Loader, "_write", write_and_change)

    with pytest.raises(ImportRefused, match="line 2502: has 1 fields"):
        import_contacts(path, "acme", Format(), using="api")

    assert stored() == []


# Beside others


def test_contacts_that_somebody_else_is_changing_are_not_waited_for_without_bound(
    files: Files, tenant: Tenant, admin_url: str
) -> None:
    contacts.load_one(tenant, "1", email="a")
    with psycopg.connect(admin_url, dbname=connections["default"].settings_dict["NAME"]) as holder:
        holder.execute("UPDATE contacts SET email = 'b'")

        assert files.refusal("id,email\n2,x\n1,c\n").startswith("Somebody else is changing the same contacts")


@pytest.mark.usefixtures("tenant")
def test_two_imports_of_one_tenant_take_turns(tmp_path: Path, admin_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    write = load.Loader._write

    def write_and_wait(self: load.Loader, batch: Any) -> Any:
        written = write(self, batch)
        begun.set()
        assert go_on.wait(20)
        return written

    monkeypatch.setattr(load.Loader, "_write", write_and_wait)
    results: list[Any] = []

    def load_file(name: str, keys: str) -> None:
        (tmp_path / name).write_text("id,email\n" + "".join(f"{key},{name}\n" for key in keys))
        try:
            results.append(import_contacts(tmp_path / name, "acme", Format(), using="api").loaded)
        finally:
            connections["api"].close()

    first = threading.Thread(target=load_file, args=["first", "ab"])
    second = threading.Thread(target=load_file, args=["second", "ba"])
    first.start()
    assert begun.wait(20)
    second.start()
    with psycopg.connect(admin_url, autocommit=True) as admin:
        ask = "SELECT 1 FROM pg_stat_activity WHERE usename = 'exports_api' AND cardinality(pg_blocking_pids(pid)) > 0"
        until(lambda: admin.execute(ask).fetchone())
    go_on.set()
    first.join(20)
    second.join(20)

    assert results == [Loaded(new=2), Loaded(updated=2)]
    assert stored("email") == [("acme", "second"), ("acme", "second")]


def test_readers_see_the_contacts_before_or_after_and_nothing_between(
    files: Files, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    contacts.load_one(tenant, "0001", email="old")
    seen: list[int] = []
    write = load.Loader._write

    def write_and_look(self: load.Loader, batch: Any) -> Any:
        written = write(self, batch)
        seen.append(Contact.objects.exclude(email="old").count())
        return written

    monkeypatch.setattr(load.Loader, "_write", write_and_look)
    files.load("id,email\n" + "".join(f"{number:04},new\n" for number in range(2_500)))

    assert seen == [0, 0, 0]
    assert Contact.objects.filter(email="new").count() == 2_500


# The command


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("import_contacts", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_says_what_it_did(files: Files) -> None:
    path = files.write("Nr|Mail|Birthday\n1|a@example.org|private\n")

    said = run(str(path), "--tenant", "acme", "--map", "Nr=external_id", "--delimiter", "|")

    assert said == (
        "Loaded 1 contacts for acme: 1 new, 0 updated.\n"
        "Not loaded, because a contact has no such column: column 3 of the file.\n"
    )


def test_the_command_takes_a_tab_by_its_name(files: Files) -> None:
    run(str(files.write("id\temail\n1\ta,b;c|d\n")), "--tenant", "acme", "--delimiter", "tab")

    assert stored("email") == [("acme", "a,b;c|d")]


def test_a_refusal_is_the_command_s_one_error(files: Files) -> None:
    path = str(files.write("id,email\n1\n"))

    with pytest.raises(CommandError, match="line 2: has 1 fields") as refused:
        run(path, "--tenant", "acme")
    with pytest.raises(CommandError, match="--map nr: write the name in the file"):
        run(path, "--tenant", "acme", "--map", "nr")

    assert refused.value.returncode == 1
