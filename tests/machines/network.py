"""Machines of a test: network namespaces on one bridge where root allows it, else the one machine there is.

A machine runs commands, has an address of its own under which its web process is reached, a clock that may be
wrong, and a line that can be cut: then its packets vanish, as when somebody pulls a plug.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.processes import Process
from tests.machines.gate import LISTENING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ASK_SECONDS = 20.0
"""Every question to the kernel takes milliseconds."""


@dataclass(frozen=True)
class Machine:
    """One machine; `inside` is what a command must begin with to run there."""

    name: str
    address: str
    clock: dict[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Let nothing in or out for the time of the block; connections are not told."""
        _ip("link", "set", f"v{self.name}", "down")
        try:
            yield
        finally:
            _ip("link", "set", f"v{self.name}", "up")


@dataclass(frozen=True)
class Network:
    """Three machines, and the address under which they find the servers."""

    servers: str
    machines: tuple[Machine, ...]

    @property
    def is_one_machine(self) -> bool:
        """Whether there is no network to cut."""
        return not self.machines[0].inside


def one_machine() -> Network:
    """Return three names for the machine this runs on."""
    return Network("127.0.0.1", tuple(Machine(name, "127.0.0.1") for name in "abc"))


@contextmanager
def three_machines(ports: Sequence[int], directory: Path, clocks: Sequence[dict[str, str]]) -> Iterator[Network]:
    """Make a bridge with three namespaces; `ports` of this machine's loopback are reached through the bridge."""
    require_root()
    tag, net = secrets.token_hex(3), 16 + secrets.randbelow(200)
    servers = f"10.213.{net}.1"
    with ExitStack() as undo:
        bridge = f"b{tag}"
        _ip("link", "add", bridge, "type", "bridge")
        undo.callback(_ip, "link", "del", bridge)
        _ip("addr", "add", f"{servers}/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        machines = tuple(
            _machine(undo, f"{name}{tag}", bridge, f"10.213.{net}.{10 + turn}", clock)
            for turn, (name, clock) in enumerate(zip("abc", clocks, strict=True))
        )
        command = [sys.executable, "-m", "tests.machines.gate", servers, *map(str, ports)]
        gate = Process(command, os.environ, directory / "gate.log")
        undo.callback(gate.end)
        gate.wait_for(LISTENING)
        yield Network(servers, machines)


def _machine(undo: ExitStack, name: str, bridge: str, address: str, clock: dict[str, str]) -> Machine:
    _ip("netns", "add", name)
    undo.callback(_ip, "netns", "del", name)
    _ip("link", "add", f"v{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
    _ip("link", "set", f"v{name}", "master", bridge, "up")
    _ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
    _ip("-n", name, "link", "set", "eth0", "up")
    _ip("-n", name, "link", "set", "lo", "up")
    return Machine(name, address, clock, (_program("ip"), "netns", "exec", name))


def require_root() -> None:
    """Skip where no namespace can be made; a missing program is a failure where servers are required."""
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces")
    _program("ip")
    name = f"try{secrets.token_hex(3)}"
    try:
        _ip("netns", "add", name)
        _ip("netns", "del", name)
    except AssertionError as error:
        pytest.skip(f"this system lets root make no network namespaces: {error}")


def clocks_apart(minutes: int) -> list[dict[str, str]]:
    """Return the environments of a clock that is right, one that is early and one that is late."""
    found = sorted(Path("/usr/lib").glob(f"{platform.machine()}-*/faketime/libfaketimeMT.so.1"))
    if not found:
        _missing("faketime")
    # Only the time of day is wrong: a clock that counts seconds since the start is nobody's to set.
    fake = {"LD_PRELOAD": str(found[0]), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    fake |= {"PYTHONPATH": str(Path(__file__).parent / "clock")}
    return [{}, *(fake | {"FAKETIME": f"{sign}{minutes}m"} for sign in "+-")]


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    return found or _missing(name)


def _missing(name: str) -> str:
    if os.environ.get("REQUIRE_SERVERS") == "1":
        pytest.fail(f"REQUIRE_SERVERS=1, but {name} is not installed here")
    pytest.skip(f"{name} is not installed here")


def _ip(*words: str) -> None:
    done = subprocess.run([_program("ip"), *words], capture_output=True, text=True, check=False, timeout=ASK_SECONDS)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
