"""How fast and in how much memory: a floor that a slow regression falls through, and the measured comparison."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exports.destinations.protocol import Uploaded, never, no_progress
from exports.evidence import ExpectedFile
from tests.destinations.openssh import Sshd, sshd
from tests.destinations.partners import Export, make_export

MIB = 1024 * 1024
FLOOR_MIB_PER_SECOND = 5
"""One write at a time with the default settings of a socket reaches 0.8 MiB/s on loopback, for want of
TCP_NODELAY; a busy machine still reaches this with it."""


def upload(server: Sshd, export: Export, **limits: int) -> float:
    """Upload once; returns seconds."""
    contract = server.partner.contract(limits={"idle_timeout_seconds": 60, **limits})
    began = time.monotonic()
    session = server.partner.open(contract)
    name = f"upload-{time.monotonic_ns()}"
    done = session.upload(export.path, export.expected.size, name, progress=no_progress, abandon=never)
    session.close()
    assert isinstance(done, Uploaded)
    seconds = time.monotonic() - began
    (server.partner.root / name).unlink()
    return seconds


@pytest.mark.parametrize("window", [1, 64])
def test_an_upload_never_waits_for_delayed_acknowledgments(open_path: Path, tmp_path: Path, window: int) -> None:
    export = make_export(tmp_path, b"t" * (16 * MIB))
    with sshd(open_path / f"floor-{window}") as server:
        seconds = upload(server, export, max_outstanding_writes=window)
    assert 16 / seconds > FLOOR_MIB_PER_SECOND


MEMORY = """
import json, sys
from pathlib import Path
from exports.contracts import Contract
from exports.destinations.protocol import *
from exports.destinations.addresses import AddressPolicy
from exports.secrets import Secret
contract = Contract.from_json(json.loads(sys.argv[1]))
source = Path(sys.argv[2])
session = open_session(contract, Secret(private_key=sys.stdin.read()), Surroundings(AddressPolicy.allowing_private()))
done = session.upload(source, source.stat().st_size, "memory", progress=no_progress, abandon=never)
session.close()
assert isinstance(done, Uploaded), done
# The peak of this program alone: getrusage also remembers the larger process it was started from.
status = Path("/proc/self/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


def peak_mib(server: Sshd, source: Path) -> float:
    """Upload in a process of its own; returns its peak resident memory."""
    if sys.platform != "linux":
        pytest.skip("the peak of one program is read from Linux's /proc")
    contract = json.dumps(server.partner.contract().to_json())
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, contract, str(source)],
        input=server.partner.secret.private_key,
        text=True,
        capture_output=True,
        check=True,
        timeout=600,
    )
    return int(done.stdout) / 1024


def sparse(directory: Path, megabytes: int) -> Path:
    """Make a large local file that takes no room."""
    path = directory / "large"
    path.touch()
    os.truncate(path, megabytes * MIB)
    return path


def test_an_upload_takes_the_same_small_memory_whatever_the_size(open_path: Path, tmp_path: Path) -> None:
    with sshd(open_path / "memory") as server:
        assert peak_mib(server, sparse(tmp_path, 128)) < 120


@pytest.mark.soak
def test_a_gibibyte_goes_about_as_fast_as_with_the_servers_own_client(open_path: Path, tmp_path: Path) -> None:
    program = shutil.which("sftp")
    if program is None:
        pytest.skip("OpenSSH's sftp is not installed")
    source = sparse(tmp_path, 1024)
    export = Export(source, ExpectedFile("contacts-large.csv", 1024 * MIB, ""))
    rounds = 5
    with sshd(open_path / "gibibyte") as server:
        identity = tmp_path / "identity"
        identity.touch(mode=0o600)
        identity.write_text(server.partner.secret.private_key)
        gcm, plain = [], []
        for _ in range(rounds):
            ours = upload(server, export)
            gcm.append(theirs(server, program, identity, export, "-oCiphers=aes128-gcm@openssh.com") / ours)
            plain.append(theirs(server, program, identity, export) / ours)
        memory = peak_mib(server, export.path)
    result = (
        f"1 GiB, median of {rounds}: {statistics.median(gcm):.2f} of sftp with aes128-gcm, "
        f"{statistics.median(plain):.2f} of plain sftp, {memory:.0f} MiB resident"
    )
    print(result)  # noqa: T201 - the measurement is the result
    assert statistics.median(gcm) >= 0.7, result
    assert statistics.median(plain) >= 1.0, result
    assert memory < 120, result


def theirs(server: Sshd, program: str, identity: Path, export: Export, *options: str) -> float:
    """Upload with OpenSSH's client; returns seconds."""
    target = server.partner.root / "theirs"
    user = server.partner.groups["auth"]["user"]
    command = [
        program,
        *("-q", "-P", str(server.port), "-i", str(identity), *options),
        *("-oStrictHostKeyChecking=no", f"-oUserKnownHostsFile={os.devnull}", "-oLogLevel=ERROR"),
        *("-b", "-", f"{user}@127.0.0.1"),
    ]
    began = time.monotonic()
    put = f"put {export.path} {target}\n"
    subprocess.run(command, input=put, text=True, check=True, capture_output=True, timeout=600)
    seconds = time.monotonic() - began
    target.unlink()
    return seconds
