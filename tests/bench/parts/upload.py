"""One gibibyte to OpenSSH on loopback, against OpenSSH's own client."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from exports.evidence import ExpectedFile
from tests.bench import programs
from tests.bench.figures import Figure, median, spread
from tests.destinations.openssh import PROGRAM as SSHD
from tests.destinations.openssh import sshd
from tests.destinations.partners import Export
from tests.destinations.test_throughput import MIB, sparse, theirs, upload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.bench import Bench

ROUNDS = 3
MEGABYTES = 1024
GCM = "-oCiphers=aes128-gcm@openssh.com"
MUST = {"sftp at its defaults": 1.0, "sftp with aes128-gcm": 0.7}


def run(bench: Bench) -> Iterator[Figure]:
    """Yield our speed beside the client's, rounds taken in turn."""
    del bench
    program = programs.find("sftp")
    if SSHD is None:
        programs.find("sshd")  # which says what is missing
    directory = Path(tempfile.mkdtemp(prefix="bench-upload-"))
    directory.chmod(0o755)
    try:
        rounds = _measure(directory, program)
    finally:
        shutil.rmtree(directory)
    for column, (name, must) in enumerate(MUST.items(), start=1):
        ratios = [each[column] / each[0] for each in rounds]
        ours, other = median([each[0] for each in rounds]), median([each[column] for each in rounds])
        words = f"{MEGABYTES / ours:.0f} MiB/s, {name} {MEGABYTES / other:.0f}; rounds {spread(ratios)}"
        yield Figure("1 GiB uploaded", median(ratios), f"of {name}", at_least=must, beside=words)


def _measure(directory: Path, program: str) -> list[tuple[float, float, float]]:
    """Return each round's seconds: ours, the client's at its defaults, the client's with aes128-gcm."""
    export = Export(sparse(directory, MEGABYTES), ExpectedFile("contacts-large.csv", MEGABYTES * MIB, ""))
    with sshd(directory / "server") as server:
        identity = directory / "identity"
        identity.touch(mode=0o600)
        identity.write_text(server.partner.secret.private_key)
        return [
            (
                upload(server, export),
                theirs(server, program, identity, export),
                theirs(server, program, identity, export, GCM),
            )
            for _ in range(ROUNDS)
        ]
