"""What only a real server does: killed, frozen, cut off, full, over quota, write-only, or overwriting."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped] # no stubs among the requirements
import pytest

from exports.contracts import Contract
from exports.destinations.delivery import Delivered, deliver
from exports.evidence import (
    Conclusion,
    Forbidden,
    Phase,
    PublishAnswered,
    PublishSent,
    ReadBack,
    Refused,
    Trouble,
    UploadFailed,
)
from exports.secrets import Secret
from tests.destinations.keyring import new_key, pem_text, public_line
from tests.destinations.openssh import Sshd, free_port, require, sshd, stop, wait_for_port
from tests.destinations.partners import Export, History, Partner, deliver_to, make_export, order_for
from tests.destinations.proftpd import proftpd
from tests.destinations.watcher import watching

LARGE = 24 * 1024 * 1024
BOUNDS = {"idle_timeout_seconds": 3, "attempt_deadline_seconds": 20}


@pytest.fixture
def place(open_path: Path) -> Path:
    """Return a path for one server's files that other accounts can enter."""
    return open_path / f"real-{time.monotonic_ns()}"


def failure(delivered: Delivered) -> UploadFailed:
    """Return the one failure before publishing."""
    (failed,) = [each for each in delivered.evidence if isinstance(each, UploadFailed)]
    return failed


def deliver_while(server: Sshd, contract: Contract, export: Export, act: Callable[[], None], *, at: int) -> Delivered:
    """Deliver, and once so many bytes are confirmed, do something to the server."""
    done = threading.Event()

    def progress(confirmed: int) -> None:
        if confirmed >= at and not done.is_set():
            done.set()
            act()

    session = server.partner.open(contract)
    try:
        return deliver(session, order_for(export, contract), History().append, progress=progress)
    finally:
        session.close()
        assert done.is_set(), "nothing was done to the server"


def test_a_server_killed_during_the_upload_leaves_nothing_under_the_final_name(place: Path, tmp_path: Path) -> None:
    export = make_export(tmp_path, b"k" * LARGE)
    with sshd(place) as server:
        contract = server.partner.contract(limits=BOUNDS)

        def kill() -> None:
            for child in server.children():
                with suppress(psutil.NoSuchProcess):
                    child.kill()

        delivered = deliver_while(server, contract, export, kill, at=4 * 1024 * 1024)
        assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
        assert failure(delivered).trouble is Trouble.CONNECTION_LOST
        assert export.expected.name not in server.partner.names()


def test_a_server_frozen_during_the_upload_is_given_up_within_its_bounds(place: Path, tmp_path: Path) -> None:
    export = make_export(tmp_path, b"f" * LARGE)
    with sshd(place) as server:
        contract = server.partner.contract(limits=BOUNDS)

        def freeze() -> None:
            for child in server.children():
                child.suspend()

        began = time.monotonic()
        delivered = deliver_while(server, contract, export, freeze, at=4 * 1024 * 1024)
        assert time.monotonic() - began < BOUNDS["attempt_deadline_seconds"] + 5
        assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
        assert failure(delivered).phase is Phase.WRITE
        assert export.expected.name not in server.partner.names()


def _sh(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=20)


@contextmanager
def network_namespace() -> Iterator[tuple[str, str, Callable[[], None]]]:
    """Make a host behind a link of its own; yields its name, its address, and what cuts the link silently."""
    tag = f"cx{os.getpid() % 10_000}"
    inside, outside = f"{tag}i", f"{tag}o"
    try:
        _sh("ip", "netns", "add", tag)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespace can be made here: {error}")
    try:
        _sh("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", tag)
        _sh("ip", "addr", "add", "10.211.7.1/30", "dev", outside)
        _sh("ip", "link", "set", outside, "up")
        _sh("ip", "-n", tag, "addr", "add", "10.211.7.2/30", "dev", inside)
        _sh("ip", "-n", tag, "link", "set", inside, "up")
        yield tag, "10.211.7.2", lambda: _sh("ip", "-n", tag, "addr", "flush", "dev", inside)
    finally:
        for words in (("link", "delete", outside), ("netns", "delete", tag)):
            with suppress(subprocess.CalledProcessError):
                _sh("ip", *words)


def test_a_network_that_swallows_everything_during_the_upload_is_noticed_within_the_bounds(
    place: Path, tmp_path: Path
) -> None:
    export = make_export(tmp_path, b"b" * LARGE)
    with network_namespace() as (name, address, cut):
        inside = (shutil.which("ip") or "ip", "netns", "exec", name)
        with sshd(place, f"ListenAddress {address}", inside=inside, address=address) as server:
            contract = server.partner.contract(limits=BOUNDS)
            began = time.monotonic()
            delivered = deliver_while(server, contract, export, cut, at=4 * 1024 * 1024)
            assert time.monotonic() - began < BOUNDS["attempt_deadline_seconds"] + 5
            assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
            assert export.expected.name not in server.partner.names()


@contextmanager
def small_disk(path: Path, megabytes: int) -> Iterator[None]:
    """Mount a small file system there."""
    path.mkdir(parents=True, exist_ok=True)
    try:
        _sh("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=777", "tmpfs", str(path))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small file system can be mounted here: {error}")
    try:
        yield
    finally:
        _sh("umount", "-l", str(path))


@pytest.mark.parametrize("kind", ["openssh", "proftpd"])
def test_a_full_disk_is_not_delivered_with_the_servers_words_and_leaves_no_file(
    place: Path, tmp_path: Path, kind: str
) -> None:
    export = make_export(tmp_path, b"d" * LARGE)
    with small_disk(place / "disk", 8):
        with serving(kind, place / "server") as partner:
            full = {"directory": str(place / "disk")}
            delivered = deliver_to(partner, export, paths=full, limits=BOUNDS)
        left = [each.name for each in (place / "disk").iterdir()]
    assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert failure(delivered).phase in {Phase.WRITE, Phase.FSYNC, Phase.CLOSE}
    assert failure(delivered).code is not None
    assert left == []


@contextmanager
def serving(kind: str, place: Path) -> Iterator[Partner]:
    """Run one of the two servers."""
    if kind == "proftpd":
        with proftpd(place) as partner:
            yield partner
    else:
        with sshd(place) as server:
            yield server.partner


def test_a_quota_that_deletes_the_file_at_close_is_not_delivered(place: Path, tmp_path: Path) -> None:
    export = make_export(tmp_path, b"q" * (4 * 1024 * 1024))
    place.mkdir()
    _quota_tables(place, limit_bytes=1_000_000)
    lines = (
        "AllowOverwrite on",
        "QuotaEngine on",
        f"QuotaLimitTable file:{place}/limit.tab",
        f"QuotaTallyTable file:{place}/tally.tab",
    )
    modules = ("mod_quotatab.c", "mod_quotatab_file.c")
    with proftpd(place / "server", *lines, modules=modules) as partner:
        delivered = deliver_to(partner, export, limits=BOUNDS)
        assert export.expected.name not in partner.names()
    assert delivered.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert not [each for each in delivered.evidence if isinstance(each, PublishSent)]


def _quota_tables(place: Path, limit_bytes: int) -> None:
    program = require(shutil.which("ftpquota"), "ftpquota")
    for kind in ("limit", "tally"):
        _sh(program, "--create-table", f"--type={kind}", f"--table-path={place}/{kind}.tab")
    _sh(
        program,
        "--add-record",
        "--type=limit",
        f"--table-path={place}/limit.tab",
        "--name=partner",
        "--quota-type=user",
        "--limit-type=hard",
        f"--bytes-upload={limit_bytes}",
        "--units=byte",
    )
    for kind in ("limit", "tally"):
        (place / f"{kind}.tab").chmod(0o666)


BOX = "internal-sftp -P stat,lstat,fstat,opendir,readdir,read"


def test_a_write_only_box_is_completed_only_by_the_clause_that_the_reply_is_proof(place: Path, tmp_path: Path) -> None:
    blind: dict[str, Any] = {
        "permissions": {"may_stat": False, "may_list": False},
        "verification": {"publish_reply_is_proof": True},
    }
    with sshd(place, f"ForceCommand {BOX}") as server:
        honest = deliver_to(server.partner, make_export(tmp_path), **blind)
        unaware = deliver_to(server.partner, make_export(tmp_path))
        names = server.partner.names()
    assert honest.verdict.row == "accepted blind, reply is proof"
    assert unaware.verdict.conclusion is Conclusion.NOT_DELIVERED
    assert len(names) == 1


def test_a_write_only_box_in_which_the_name_is_taken_refuses_and_stays_unknown(place: Path, tmp_path: Path) -> None:
    blind: dict[str, Any] = {
        "permissions": {"may_stat": False, "may_list": False},
        "verification": {"publish_reply_is_proof": True},
    }
    export = make_export(tmp_path)
    with sshd(place, f"ForceCommand {BOX}") as server:
        (server.partner.root / export.expected.name).write_bytes(b"there before")
        delivered = deliver_to(server.partner, export, **blind)
        assert (server.partner.root / export.expected.name).read_bytes() == b"there before"
    (answered,) = [each for each in delivered.evidence if isinstance(each, PublishAnswered)]
    assert isinstance(answered.answer, Refused)
    assert delivered.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN


def test_a_server_that_hashes_files_proves_a_delivery_by_hash(place: Path, tmp_path: Path) -> None:
    with proftpd(place) as partner:
        delivered = deliver_to(partner, make_export(tmp_path), verification={"checksum": "sha256"})
    assert delivered.verdict.row == "accepted, hash"


@pytest.mark.parametrize("line", ["HiddenStores on", "DeleteAbortedStores on"])
def test_options_that_hide_or_delete_uploads_do_not_disturb_a_delivery(place: Path, tmp_path: Path, line: str) -> None:
    with proftpd(place, "AllowOverwrite on", line) as partner:
        export = make_export(tmp_path)
        delivered = deliver_to(partner, export)
        assert partner.names() == [export.expected.name]
    assert delivered.verdict.conclusion is Conclusion.COMPLETED


def test_a_server_that_forbids_overwriting_takes_fresh_temporary_names(place: Path, tmp_path: Path) -> None:
    with proftpd(place, "AllowOverwrite off") as partner:
        delivered = [deliver_to(partner, make_export(tmp_path)) for _ in range(2)]
    assert [each.verdict.conclusion for each in delivered] == [Conclusion.COMPLETED] * 2


def test_an_idle_session_that_the_server_closed_is_noticed_before_it_is_used(place: Path) -> None:
    with proftpd(place, "AllowOverwrite on", "TimeoutIdle 1") as partner:
        session = partner.open()
        ends_at = time.monotonic() + 15
        while session.healthy() and time.monotonic() < ends_at:
            threading.Event().wait(2)  # longer than the server's patience; it closes while nothing is asked
        assert session.doubtful
        session.close()


@contextmanager
def rclone(place: Path) -> Iterator[Partner]:
    """Run a server whose rename overwrites and whose link does nothing and says it did."""
    program = require(shutil.which("rclone"), "rclone")
    root = place / "upload"
    root.mkdir(parents=True)
    key, port = new_key("ssh-rsa"), free_port()
    (place / "host_key").touch(mode=0o600)
    (place / "host_key").write_text(pem_text(key))
    command = [
        program,
        *("serve", "sftp", str(root), "--addr", f"127.0.0.1:{port}", "--config", os.devnull),
        *("--user", "u", "--pass", "p", "--key", str(place / "host_key")),
    ]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    groups = {
        "endpoint": {"host": "127.0.0.1", "port": port},
        "auth": {"user": "u", "secret_id": "test"},
        "host_keys": [{"key": public_line(key)}],
        "paths": {"directory": "/"},
    }
    try:
        wait_for_port(port, process)
        yield Partner("rclone", root, groups, Secret(password="p"))
    finally:
        stop(process)


def test_on_a_server_whose_links_lie_nothing_is_completed_and_nothing_is_overwritten(
    place: Path, tmp_path: Path
) -> None:
    export = make_export(tmp_path)
    with rclone(place) as partner, watching(partner.root) as seen:
        delivered = deliver_to(partner, export)
        assert delivered.verdict.conclusion is Conclusion.OUTCOME_UNKNOWN
        assert seen.appearances(export.expected.name) == 0
    (looked,) = [each for each in delivered.evidence if isinstance(each, ReadBack)]
    assert not isinstance(looked.sighting, Forbidden)


def test_stopping_and_continuing_a_server_within_the_bounds_completes(place: Path, tmp_path: Path) -> None:
    export = make_export(tmp_path, b"s" * LARGE)
    with sshd(place) as server:
        contract = server.partner.contract(limits={"idle_timeout_seconds": 30})

        def pause() -> None:
            children = server.children()
            for child in children:
                child.send_signal(signal.SIGSTOP)
            threading.Timer(1.0, lambda: [child.send_signal(signal.SIGCONT) for child in children]).start()

        delivered = deliver_while(server, contract, export, pause, at=4 * 1024 * 1024)
        assert delivered.verdict.conclusion is Conclusion.COMPLETED
        assert (server.partner.root / export.expected.name).read_bytes() == export.content


def test_rekeying_during_an_upload_changes_nothing(place: Path, tmp_path: Path) -> None:
    export = make_export(tmp_path, b"r" * LARGE)
    with sshd(place, "RekeyLimit 1M") as server:
        delivered = deliver_to(server.partner, export)
        assert (server.partner.root / export.expected.name).read_bytes() == export.content
    assert delivered.verdict.conclusion is Conclusion.COMPLETED
