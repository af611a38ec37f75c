"""An OpenSSH server of this test's own: its configuration, keys and files in one directory, stopped by its pid."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped] # no stubs among the requirements
import pytest

from exports.secrets import Secret
from tests.destinations.keyring import new_key, private_text, public_line
from tests.destinations.partners import Partner

PROGRAM = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
_START_SECONDS = 20


@dataclass(frozen=True)
class Sshd:
    """A running server and what its tests need to know of it."""

    partner: Partner
    process: subprocess.Popen[bytes]
    directory: Path
    port: int

    def children(self) -> list[psutil.Process]:
        """Return the processes that serve its connections now."""
        children: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return children


def require(program: str | None, name: str) -> str:
    """Return the program, or skip with the reason; REQUIRE_SERVERS=1 makes a missing server a failure."""
    if program is not None:
        return program
    reason = f"{name} is not installed"
    if os.environ.get("REQUIRE_SERVERS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    """Return a port that is free now on loopback."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def sshd(
    directory: Path,
    *lines: str,
    host_key: str = "ssh-ed25519",
    inside: tuple[str, ...] = (),
    address: str = "127.0.0.1",
) -> Iterator[Sshd]:
    """Run a server with these further lines of configuration; `inside` is a command it is run by."""
    program = require(PROGRAM, "OpenSSH's sshd")
    key, user_key, port = new_key(host_key), new_key(), free_port()
    root = directory / "upload"
    root.mkdir(parents=True)
    _write_private(directory / "host_key", private_text(key))
    (directory / "authorized_keys").write_text(public_line(user_key) + "\n")
    config = directory / "sshd_config"
    config.write_text("\n".join(_configuration(directory, port, lines)) + "\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # the server refuses to start without it
    process = subprocess.Popen(
        [*inside, program, "-D", "-f", config, "-E", directory / "sshd.log"], stdin=subprocess.DEVNULL
    )
    partner = _partner(root, (address, port), public_line(key), private_text(user_key))
    try:
        wait_for_port(port, process, address)
        yield Sshd(partner, process, directory, port)
    finally:
        stop(process)


def _configuration(directory: Path, port: int, lines: tuple[str, ...]) -> list[str]:
    # OpenSSH takes the first value it reads for each option, so a test's own lines come first.
    return [
        *lines,
        f"Port {port}",
        *(() if any(line.startswith("ListenAddress") for line in lines) else ("ListenAddress 127.0.0.1",)),
        f'HostKey "{directory}/host_key"',
        f'AuthorizedKeysFile "{directory}/authorized_keys"',
        "PidFile none",
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "UsePAM no",
        "StrictModes no",
        "UseDNS no",
        "Subsystem sftp internal-sftp",
    ]


def _partner(root: Path, endpoint: tuple[str, int], host_key: str, user_key: str) -> Partner:
    groups = {
        "endpoint": {"host": endpoint[0], "port": endpoint[1]},
        "auth": {"user": pwd.getpwuid(os.geteuid()).pw_name, "secret_id": "test", "method": "key"},
        "host_keys": [{"key": host_key}],
        "paths": {"directory": str(root)},
        "limits": {"idle_timeout_seconds": 5, "connect_timeout_seconds": 20},
    }
    return Partner("openssh", root, groups, Secret(private_key=user_key))


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def wait_for_port(port: int, process: subprocess.Popen[bytes], address: str = "127.0.0.1") -> None:
    """Wait until the server greets on its port, or fail with its exit code."""
    ends_at = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends_at:
        if process.poll() is not None:
            pytest.fail(f"the server ended with {process.returncode} instead of starting")
        with suppress(OSError), socket.create_connection((address, port), 1) as sock:
            if sock.recv(4) == b"SSH-":
                return
        time.sleep(0.02)
    pytest.fail("the server did not start")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a server and whoever serves its connections, also those a test has frozen."""
    with suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
    process.terminate()
    process.wait(10)
