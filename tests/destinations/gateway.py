"""A gateway before a real SFTP server that fails at one request of a delivery, whatever server stands behind it.

It signs in behind as we would, and passes SFTP packets on as they are, each way; it reads them only to know which
request of a delivery this is. So the server is real, what lies at the partner really lies there, and the fault is
exact: before the request reached the server, or after the server had carried it out.
"""

import asyncio
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import asyncssh

from exports.contracts import AuthMethod, Contract
from exports.secrets import Secret
from tests.destinations.faulty import PASSWORD, PasswordLogin, Step
from tests.destinations.keyring import new_key, public_line
from tests.destinations.loops import LoopThread
from tests.destinations.partners import Partner

INIT, OPEN, CLOSE, WRITE, LSTAT, REMOVE, RENAME, STATUS, EXTENDED = 1, 3, 4, 6, 7, 13, 18, 101, 200
FOR_WRITING = 0x02
FAILURE = 4
STEP_OF = {CLOSE: Step.CLOSE, REMOVE: Step.REMOVE, RENAME: Step.PUBLISH}
STEP_OF_EXTENSION = {
    b"fsync@openssh.com": Step.FSYNC,
    b"hardlink@openssh.com": Step.PUBLISH,
    b"posix-rename@openssh.com": Step.PUBLISH,
}
SECONDS = 20
"""Bound on signing in behind: a real server on a busy machine."""


class Act(StrEnum):
    """What goes wrong at the chosen request."""

    ERROR = "error"
    ERROR_AFTER = "error_after"
    DROP_BEFORE = "drop_before"
    DROP_AFTER = "drop_after"
    HANG = "hang"
    HANG_AFTER = "hang_after"
    FREEZE = "freeze"
    """From this request on nothing passes in either direction."""
    KILL = "kill"
    """The server's session is gone, and with it the connection."""
    LATE = "late"
    """The answer comes after the next one's."""


HAPPENS = frozenset({Act.ERROR_AFTER, Act.DROP_AFTER, Act.HANG_AFTER, Act.LATE})
"""Faults in which the server has carried the request out."""


@dataclass
class Passed:
    """What came by, and what was to go wrong: `requests` counts each step's requests of all connections."""

    step: Step | None
    act: Act | None
    requests: Counter[Step] = field(default_factory=Counter)
    connections: int = 0


def step_of(packet: bytes, passed: Passed) -> Step | None:
    """Return which request of a delivery a packet is; None for those that belong to none."""
    kind, rest = packet[0], packet[5:]
    if kind == WRITE:
        return Step.WRITE
    if kind == OPEN:
        (length,) = struct.unpack_from(">I", rest)
        (flags,) = struct.unpack_from(">I", rest, 4 + length)
        return Step.OPEN if flags & FOR_WRITING else None
    (length,) = struct.unpack_from(">I", rest) if len(rest) >= 4 else (0,)
    name = rest[4 : 4 + length]
    if kind == LSTAT:
        looked = Step.READ_BACK if passed.requests[Step.LOOK] else Step.LOOK
        return Step.VERIFY if name.endswith(b".part") else looked
    return STEP_OF_EXTENSION.get(name) if kind == EXTENDED else STEP_OF.get(kind)


class Packets:
    """Cuts a stream into packets."""

    def __init__(self) -> None:
        self._data = bytearray()

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Take what has come and yield every packet that is complete, without its length."""
        self._data += data
        while len(self._data) >= 4:
            (length,) = struct.unpack_from(">I", self._data)
            if len(self._data) < 4 + length:
                return
            packet = bytes(self._data[4 : 4 + length])
            del self._data[: 4 + length]
            yield packet


def framed(packet: bytes) -> bytes:
    """Return a packet with its length."""
    return struct.pack(">I", len(packet)) + packet


def failure(request: bytes) -> bytes:
    """Return the server's refusal of this request."""
    words = b"No space left on device"
    fields = struct.pack(">II", FAILURE, len(words)) + words + struct.pack(">I", 0)
    return bytes([STATUS]) + request[1:5] + fields


class Behind(asyncssh.SSHClientSession[bytes]):
    """The session with the real server."""

    def __init__(self, answered: Callable[[bytes], None], gone: Callable[[], None]) -> None:
        self._answered = answered
        self._gone = gone

    def data_received(self, data: bytes, datatype: Any) -> None:
        del datatype
        self._answered(data)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._gone()


class Front(asyncssh.SSHServerSession[bytes]):
    """One client's session, passed on to a session of its own behind."""

    def __init__(self, passed: Passed, connect: Callable[..., Any]) -> None:
        self._passed = passed
        self._connect = connect
        self._questions, self._answers = Packets(), Packets()
        self._waiting: list[bytes] = []
        self._server: Any = None
        self._link: Any = None
        self._frozen = False
        self._at: bytes | None = None
        self._held: bytes | None = None

    def connection_made(self, chan: Any) -> None:
        self._chan = chan
        self._passed.connections += 1

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == "sftp"

    def session_started(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        self._link = await self._connect()
        make = lambda: Behind(self._answer, self._drop)  # noqa: E731 - a factory of one expression
        self._server, _ = await self._link.create_session(make, subsystem="sftp", encoding=None)
        for packet in self._waiting:
            self._ask(packet)

    def data_received(self, data: bytes, datatype: Any) -> None:
        del datatype
        for packet in self._questions.cut(data):
            if self._server is None:
                self._waiting.append(packet)
            else:
                self._ask(packet)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._link is not None:
            self._link.abort()

    def _ask(self, packet: bytes) -> None:
        step = None if packet[0] == INIT else step_of(packet, self._passed)
        if step is not None:
            self._passed.requests[step] += 1
        if step is not None and step == self._passed.step and self._is_the_one(step):
            self._fail(packet)
        elif not self._frozen:
            self._server.write(framed(packet))

    def _is_the_one(self, step: Step) -> bool:
        """Whether this is the request to fail at: the second write, neither the first nor the last; else the first."""
        return self._passed.requests[step] == (2 if step is Step.WRITE else 1)

    def _fail(self, packet: bytes) -> None:
        match self._passed.act:
            case Act.ERROR:
                self._chan.write(framed(failure(packet)))
            case Act.DROP_BEFORE:
                self._drop()
            case Act.FREEZE:
                self._frozen = True
            case Act.KILL:
                self._link.abort()
            case Act.HANG:
                return
            case _:
                self._at = packet[1:5]
                self._server.write(framed(packet))

    def _answer(self, data: bytes) -> None:
        for packet in self._answers.cut(data):
            if self._frozen:
                return
            if self._at is not None and packet[1:5] == self._at and packet[0] != 2:
                self._at = None
                self._fail_after(packet)
            else:
                self._pass(packet)

    def _fail_after(self, packet: bytes) -> None:
        match self._passed.act:
            case Act.ERROR_AFTER:
                self._chan.write(framed(failure(packet)))
            case Act.DROP_AFTER:
                self._drop()
            case Act.LATE:
                self._held = packet
            case _:
                return

    def _pass(self, packet: bytes) -> None:
        with suppress(OSError):
            self._chan.write(framed(packet))
            if self._held is not None:
                self._chan.write(framed(self._held))
                self._held = None

    def _drop(self) -> None:
        self._chan.get_connection().abort()


@contextmanager
def gateway(loop: LoopThread, behind: Partner) -> Iterator[Callable[[Step | None, Act | None], tuple[Partner, Passed]]]:
    """Stand before a partner; yields what makes a partner behind the gateway, with a fault, and what passed."""
    key, now = new_key(), [Passed(None, None)]
    contract = behind.contract()
    options = {"server_host_keys": [key], "session_factory": None, "encoding": None}
    listener = loop.run(_listen(options, now, contract, behind.secret))

    def partner(step: Step | None, act: Act | None) -> tuple[Partner, Passed]:
        now[0] = Passed(step, act)
        groups = behind.groups | {
            "endpoint": {"host": "127.0.0.1", "port": listener.get_port()},
            "auth": {"user": "anybody", "secret_id": "test", "method": "password"},
            "host_keys": [{"key": public_line(key)}],
        }
        return replace(behind, groups=groups, secret=Secret(password=PASSWORD)), now[0]

    try:
        yield partner
    finally:
        loop.run(_stop(listener))


async def _listen(options: dict[str, Any], now: list[Passed], contract: Contract, secret: Secret) -> Any:
    class Login(PasswordLogin):
        """Lets us in, and passes what we ask on."""

        def session_requested(self) -> Any:
            return Front(now[0], lambda: _connect(contract, secret))

    del options["session_factory"]
    return await asyncssh.create_server(Login, "127.0.0.1", 0, **options)


async def _connect(contract: Contract, secret: Secret) -> Any:
    keys: dict[str, Any] = {"client_keys": None, "password": secret.password}
    if contract.auth.method is AuthMethod.KEY:
        keys = {"client_keys": [asyncssh.import_private_key(secret.private_key)], "password": None}
    end = contract.endpoint
    return await asyncio.wait_for(
        asyncssh.connect(
            end.host, end.port, username=contract.auth.user, known_hosts=None, config=None, agent_path=None, **keys
        ),
        SECONDS,
    )


async def _stop(listener: Any) -> None:
    listener.close()
    await listener.wait_closed()
