"""From a contract to a signed-in session: one bound over all of it, and words for everything that can go wrong.

The name is resolved once and connected to by address. Only algorithms a pinned host key can use are offered,
and the key the server proves is compared with the pinned ones before anything of ours is sent.
"""

import socket
import time
from contextlib import suppress
from typing import Final

import paramiko
from paramiko.ssh_exception import IncompatiblePeer

from exports.contracts import Contract
from exports.destinations.addresses import AddressError, SocketAddress, resolve
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Passed, Stage, Surroundings, unheard
from exports.destinations.sftp.keys import algorithms, require_pinned, trusted_now
from exports.destinations.sftp.session import SftpSession
from exports.destinations.sftp.signing_in import sign_in
from exports.destinations.sftp.wire import Lost, Wire
from exports.destinations.watchdog import WATCHDOG
from exports.evidence import Trouble, shown
from exports.secrets import Secret

CIPHERS: Final = (
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
)
"""AES-GCM first: the library's own order costs a third of the throughput."""

_KEEPALIVE_SECONDS: Final = 20  # keeps address translations open; it detects nothing by itself


def open_sftp(contract: Contract, secret: Secret, surroundings: Surroundings, passed: Passed = unheard) -> SftpSession:
    """Connect, prove the server, sign in and open SFTP, within the contract's connect timeout."""
    bound = contract.limits.connect_timeout_seconds
    ends_at = time.monotonic() + bound
    pinned = trusted_now(contract.host_keys)
    connection = SftpConnection(_connected(contract, surroundings, ends_at), bound)
    passed(Stage.CONNECT)
    watch = WATCHDOG.watch(max(0.0, ends_at - time.monotonic()), connection.break_off)
    try:
        connection.prove(contract, algorithms(pinned))
        connection.host_key = require_pinned(pinned, connection.transport.get_remote_server_key())
        passed(Stage.HOST_KEY)
        sign_in(connection.transport, contract.auth, secret)
        passed(Stage.SIGN_IN)
        wire = connection.open_wire(contract)
        passed(Stage.SFTP)
        return SftpSession(contract, connection, wire)
    except CouldNotConnect:
        connection.break_off()
        raise
    except Exception as error:
        timed_out = watch.fired
        connection.break_off()
        raise _in_words(error, bound, timed_out=timed_out) from error
    finally:
        watch.cancel()


class SftpConnection:
    """The socket and SSH transport under one session."""

    def __init__(self, sock: socket.socket, bound_seconds: float) -> None:
        self.host_key = ""
        self.transport: Final = paramiko.Transport(sock)
        self._sock: Final = sock
        self._bound_seconds: Final = bound_seconds
        self._broken_off = False

    @property
    def server(self) -> str:
        """The server's identification line, as shown."""
        return shown(self.transport.remote_version, 255)

    @property
    def broken_off(self) -> bool:
        """Whether this side ended the connection."""
        return self._broken_off

    def prove(self, contract: Contract, key_types: tuple[str, ...]) -> None:
        """Exchange keys, offering only what we are willing to use."""
        transport, bound = self.transport, self._bound_seconds
        transport.banner_timeout = transport.handshake_timeout = bound
        transport.auth_timeout = transport.channel_timeout = bound
        options = transport.get_security_options()
        options.ciphers = CIPHERS
        options.key_types = key_types
        transport.start_client(timeout=bound)
        if not transport.is_active() or not transport.initial_kex_done:
            raise TimeoutError
        transport.set_keepalive(min(_KEEPALIVE_SECONDS, contract.limits.idle_timeout_seconds))

    def open_wire(self, contract: Contract) -> Wire:
        """Open the SFTP subsystem and greet it."""
        channel = self.transport.open_session(timeout=self._bound_seconds)
        channel.settimeout(self._bound_seconds)
        channel.invoke_subsystem("sftp")
        wire = Wire(channel, contract.limits.idle_timeout_seconds)
        wire.hello()
        return wire

    def break_off(self) -> None:
        """End the connection at once, from any thread; every wait on it returns."""
        self._broken_off = True
        # Shutting the socket down first wakes a thread that is inside a system call on it.
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self.transport.close()
        self._sock.close()


def _connected(contract: Contract, surroundings: Surroundings, ends_at: float) -> socket.socket:
    """Return a connected socket to the first allowed address that answers."""
    host, port = contract.endpoint.host, contract.endpoint.port
    try:
        addresses = resolve(host, port, surroundings.addresses, max(0.1, ends_at - time.monotonic()))
    except AddressError as error:
        unknown, refused = ConnectTrouble.ADDRESS_UNKNOWN, ConnectTrouble.ADDRESS_NOT_ALLOWED
        raise CouldNotConnect(unknown if error.allowed else refused, str(error)) from None
    failures: list[OSError] = []
    for address in addresses:
        try:
            return _tuned(_connected_to(address, ends_at), contract.limits.idle_timeout_seconds)
        except OSError as error:
            failures.append(error)
    raise _in_words(failures[-1], contract.limits.connect_timeout_seconds, timed_out=False)


def _connected_to(address: SocketAddress, ends_at: float) -> socket.socket:
    left = ends_at - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return socket.create_connection(address[:2], timeout=left)


def _tuned(sock: socket.socket, idle_seconds: int) -> socket.socket:
    """Send small requests at once, and give up on a peer that acknowledges nothing at all."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Linux only. A dead route is otherwise noticed after a quarter of an hour; the watchdog covers the rest.
    if (option := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
        sock.setsockopt(socket.IPPROTO_TCP, option, idle_seconds * 1000)
    return sock


_WORDS: Final[tuple[tuple[type[Exception], ConnectTrouble, str], ...]] = (
    (IncompatiblePeer, ConnectTrouble.NO_COMMON_ALGORITHM, "no safe algorithm is common to both sides"),
    (ConnectionRefusedError, ConnectTrouble.CONNECTION_REFUSED, "nothing listens at the server's port"),
    (paramiko.ChannelException, ConnectTrouble.SFTP_NOT_OFFERED, "the server opened no SFTP session"),
    (Lost, ConnectTrouble.SFTP_NOT_OFFERED, "the server does not speak SFTP"),
    (EOFError, ConnectTrouble.CLOSED_BY_SERVER, "the server ended the connection"),
    (ConnectionError, ConnectTrouble.CLOSED_BY_SERVER, "the server ended the connection"),
    (paramiko.SSHException, ConnectTrouble.CLOSED_BY_SERVER, "the server ended the connection"),
    (OSError, ConnectTrouble.UNREACHABLE, "the server cannot be reached"),
    (Exception, ConnectTrouble.PROTOCOL, "the connection failed in an unexpected way"),
)
"""What the library raises, most particular first, and what it means to an operator."""


def _in_words(error: Exception, bound_seconds: float, *, timed_out: bool) -> CouldNotConnect:
    if timed_out or _means_timeout(error):
        words = f"the server did not finish the connection in {bound_seconds:g} s"
        return CouldNotConnect(ConnectTrouble.TIMEOUT, words)
    if isinstance(error, IncompatiblePeer) and "host key" in str(error):
        words = "the server no longer offers a host key of a pinned type; ask the partner about its new key"
        return CouldNotConnect(ConnectTrouble.HOST_KEY_CHANGED, words)
    kind, words = next((kind, words) for cls, kind, words in _WORDS if isinstance(error, cls))
    return CouldNotConnect(kind, f"{words} ({shown(str(error) or type(error).__name__)})")


def _means_timeout(error: Exception) -> bool:
    lost = isinstance(error, Lost) and error.trouble is Trouble.TIMEOUT
    asked = isinstance(error, paramiko.AuthenticationException) and "timeout" in str(error).lower()
    return lost or asked or isinstance(error, TimeoutError)
