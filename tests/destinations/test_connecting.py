"""Opening a session: what is refused, how long each wait may last, and the words an operator gets."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import paramiko
import pytest
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from exports.contracts import Contract
from exports.destinations.addresses import AddressPolicy
from exports.destinations.protocol import ConnectTrouble, CouldNotConnect, Surroundings
from exports.secrets import Secret
from tests.destinations.faulty import faulty_server
from tests.destinations.keyring import new_key, pem_text, private_text, public_line
from tests.destinations.loops import LoopThread
from tests.destinations.openssh import sshd
from tests.destinations.partners import Export, Partner, deliver_to, make_export
from tests.destinations.refusals import fresh, refused

BOUND_SECONDS = 3


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def partner(loop: LoopThread, root: Path) -> Iterator[Partner]:
    with faulty_server(loop, root) as make:
        yield make()


def test_a_wrong_password_is_refused_and_says_so(partner: Partner) -> None:
    error = refused(partner, secret=Secret(password="battery staple"))
    assert error.kind is ConnectTrouble.AUTH_REFUSED
    assert error.words == "the server refused the user or password"


def test_a_refusal_says_that_the_credential_has_expired_where_the_contract_knows_it(partner: Partner) -> None:
    contract = partner.contract(auth={"expires_at": "2020-02-29T00:00:00+00:00"})
    error = refused(partner, contract, Secret(password="battery staple"))
    assert error.words.endswith("by the contract the credential was over on 2020-02-29")


def test_a_secret_that_lacks_what_the_method_needs_is_said_before_anything_is_sent(partner: Partner) -> None:
    error = refused(partner, partner.contract(auth={"method": "key_and_password"}), Secret(password="x"))
    assert error.kind is ConnectTrouble.SECRET_UNUSABLE
    assert "private key" in error.words


@pytest.mark.parametrize(
    ("text", "passphrase", "words"),
    [
        ("no key at all", "", "unreadable"),
        (private_text(new_key(), "right"), "hunter2", "passphrase is wrong"),
        (private_text(new_key(), "right"), "", "needs its passphrase"),
        (pem_text(new_key()).replace("PRIVATE", "PUBLIC"), "", "unreadable"),
    ],
)
def test_a_stored_key_that_cannot_be_used_is_named_for_what_is_wrong(
    partner: Partner, text: str, passphrase: str, words: str
) -> None:
    secret = Secret(private_key=text, passphrase=passphrase)
    error = refused(partner, partner.contract(auth={"method": "key"}), secret)
    assert error.kind is ConnectTrouble.SECRET_UNUSABLE
    assert words in error.words


def test_a_method_the_server_does_not_offer_is_named_with_what_it_offers(partner: Partner) -> None:
    secret = Secret(private_key=private_text(new_key()))
    error = refused(partner, partner.contract(auth={"method": "key"}), secret)
    assert error.kind is ConnectTrouble.AUTH_METHOD_NOT_OFFERED
    assert "password" in error.words


def test_another_host_key_of_the_pinned_type_is_refused_with_both_fingerprints(partner: Partner) -> None:
    other = public_line(new_key())
    error = refused(partner, partner.contract(host_keys=[{"key": other}]))
    assert error.kind is ConnectTrouble.HOST_KEY_CHANGED
    assert error.words.count("SHA256:") == 2


def test_a_server_that_rotated_to_another_type_of_key_is_a_changed_host_key(partner: Partner) -> None:
    pinned = public_line(new_key("ecdsa-sha2-nistp256"))
    error = refused(partner, partner.contract(host_keys=[{"key": pinned}]))
    assert error.kind is ConnectTrouble.HOST_KEY_CHANGED


def test_during_a_rotation_either_of_two_pinned_keys_is_accepted(partner: Partner) -> None:
    keys = [{"key": public_line(new_key())}, *partner.groups["host_keys"]]
    session = partner.open(partner.contract(host_keys=keys))
    assert session.healthy()
    session.close()


def test_a_pinned_key_outside_its_time_is_not_trusted_and_nothing_is_connected(partner: Partner) -> None:
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    keys = [{**partner.groups["host_keys"][0], "valid_to": past}]
    error = refused(partner, partner.contract(host_keys=keys))
    assert error.kind is ConnectTrouble.NO_VALID_HOST_KEY


def test_loopback_is_refused_unless_the_process_allows_private_destinations(partner: Partner) -> None:
    public_only = Partner(partner.name, partner.root, partner.groups, partner.secret, Surroundings())
    error = refused(public_only)
    assert error.kind is ConnectTrouble.ADDRESS_NOT_ALLOWED
    assert "127.0.0.1" in error.words


def test_a_name_that_leads_nowhere_is_said(partner: Partner) -> None:
    error = refused(partner, partner.contract(endpoint={"host": "no-such-partner.invalid"}))
    assert error.kind is ConnectTrouble.ADDRESS_UNKNOWN


def test_a_port_nobody_listens_on_is_said(partner: Partner) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        error = refused(partner, partner.contract(endpoint={"port": sock.getsockname()[1]}))
    assert error.kind is ConnectTrouble.CONNECTION_REFUSED


@contextmanager
def listener(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Accept connections and let `serve` treat each on a thread; yields the port."""
    sockets: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                sock, _ = server.accept()
            except OSError:
                return
            sockets.append(sock)
            threading.Thread(target=serve, args=(sock,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    for sock in sockets:
        sock.close()


def silent(sock: socket.socket) -> None:
    del sock


def greets_and_stops(sock: socket.socket) -> None:
    sock.sendall(b"SSH-2.0-Stopped\r\n")


def endless_lines(sock: socket.socket) -> None:
    try:
        while True:
            sock.sendall(b"please wait\r\n")
            threading.Event().wait(0.2)
    except OSError:
        return


def another_protocol(sock: socket.socket) -> None:
    sock.sendall(b"220 ftp.partner.example FTP server ready\r\n" * 200)
    sock.close()


def closes(sock: socket.socket) -> None:
    sock.close()


def short_bound(partner: Partner, port: int) -> Contract:
    """Return the contract with this port and a short bound on connecting."""
    return partner.contract(endpoint={"port": port}, limits={"connect_timeout_seconds": BOUND_SECONDS})


@pytest.mark.parametrize("serve", [silent, greets_and_stops, endless_lines])
def test_a_server_that_never_finishes_its_greeting_is_given_up_in_time(
    partner: Partner, serve: Callable[[socket.socket], None]
) -> None:
    with listener(serve) as port:
        error = refused(partner, short_bound(partner, port))
    assert error.kind is ConnectTrouble.TIMEOUT


@pytest.mark.parametrize("serve", [another_protocol, closes])
def test_a_server_that_speaks_something_else_or_hangs_up_is_said(
    partner: Partner, serve: Callable[[socket.socket], None]
) -> None:
    with listener(serve) as port:
        error = refused(partner, short_bound(partner, port))
    assert error.kind is ConnectTrouble.CLOSED_BY_SERVER


class Stuck(paramiko.ServerInterface):
    """A server that stops answering at one point of signing in and opening the session."""

    def __init__(self, at: str) -> None:
        self._at = at
        self.never = threading.Event()

    def _stop_at(self, point: str) -> None:
        if point == self._at:
            self.never.wait(60)

    def get_allowed_auths(self, username: str) -> str:
        del username
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        del username, password
        self._stop_at("auth")
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        del kind, chanid
        self._stop_at("channel")
        return OPEN_SUCCEEDED

    def check_channel_subsystem_request(self, channel: Any, name: str) -> bool:
        del channel, name
        self._stop_at("subsystem")
        return self._at != "denied"


@contextmanager
def stuck_server(at: str) -> Iterator[tuple[int, str]]:
    """Run such a server; yields its port and public key line."""
    key = paramiko.ECDSAKey.generate()
    interface = Stuck(at)
    transports: list[paramiko.Transport] = []

    def serve(sock: socket.socket) -> None:
        transport = paramiko.Transport(sock)
        transports.append(transport)
        transport.add_server_key(key)
        transport.start_server(server=interface)

    with listener(serve) as port:
        yield port, f"{key.get_name()} {key.get_base64()}"
        interface.never.set()
        for transport in transports:
            transport.close()


@pytest.mark.parametrize("at", ["auth", "channel", "subsystem"])
def test_a_server_that_stops_answering_while_we_sign_in_is_given_up_in_time(partner: Partner, at: str) -> None:
    with stuck_server(at) as (port, key):
        contract = partner.contract(
            endpoint={"port": port},
            host_keys=[{"key": key}],
            limits={"connect_timeout_seconds": BOUND_SECONDS},
        )
        error = refused(partner, contract)
    assert error.kind is ConnectTrouble.TIMEOUT


def test_a_server_that_denies_the_sftp_subsystem_is_said_at_once(partner: Partner) -> None:
    with stuck_server("denied") as (port, key):
        error = refused(partner, partner.contract(endpoint={"port": port}, host_keys=[{"key": key}]))
    assert error.kind in {ConnectTrouble.SFTP_NOT_OFFERED, ConnectTrouble.CLOSED_BY_SERVER}


@pytest.mark.parametrize(
    "line",
    [
        "KexAlgorithms diffie-hellman-group14-sha1",
        "Ciphers chacha20-poly1305@openssh.com",
        "MACs umac-64@openssh.com\nCiphers aes128-ctr",
    ],
)
def test_a_server_with_nothing_but_other_algorithms_is_named_as_such(open_path: Path, line: str) -> None:
    with sshd(fresh(open_path), *line.splitlines()) as server:
        error = refused(server.partner)
    assert error.kind is ConnectTrouble.NO_COMMON_ALGORITHM


def test_a_server_that_signs_with_sha1_alone_is_refused(open_path: Path) -> None:
    with sshd(fresh(open_path), "HostKeyAlgorithms ssh-rsa", host_key="ssh-rsa") as server:
        error = refused(server.partner)
    assert error.kind in {ConnectTrouble.HOST_KEY_CHANGED, ConnectTrouble.NO_COMMON_ALGORITHM}


def test_five_workers_at_a_server_that_takes_one_login_at_a_time_are_told_apart(
    open_path: Path, tmp_path: Path
) -> None:
    exports = [make_export(tmp_path) for _ in range(5)]
    results: list[object] = []

    def run(export: Export) -> None:
        try:
            limits = {"connect_timeout_seconds": 90}  # far more than five logins in a row take on a busy machine
            results.append(deliver_to(server.partner, export, limits=limits).verdict.row)
        except CouldNotConnect as error:
            results.append(error.kind)

    with sshd(fresh(open_path), "MaxStartups 1") as server:
        threads = [threading.Thread(target=run, args=(each,)) for each in exports]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        arrived = server.partner.names()
    assert len(results) == 5
    assert set(results) <= {"accepted, listed", ConnectTrouble.CLOSED_BY_SERVER}
    assert results.count("accepted, listed") == len(arrived) >= 1


def test_a_server_that_allows_no_session_is_said(open_path: Path) -> None:
    with sshd(fresh(open_path), "MaxSessions 0") as server:
        error = refused(server.partner)
    assert error.kind is ConnectTrouble.SFTP_NOT_OFFERED


def test_a_policy_for_addresses_is_asked_once_and_the_connection_goes_to_that_address(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def counting(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host == "localhost":
            asked.append(host)
        return real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", counting)
    session = partner.open(partner.contract(endpoint={"host": "localhost"}))
    session.close()
    assert asked == ["localhost"]


def test_a_destination_of_this_machine_by_another_name_is_refused_by_its_address(partner: Partner) -> None:
    strict = Partner(partner.name, partner.root, partner.groups, partner.secret, Surroundings(AddressPolicy()))
    error = refused(strict, partner.contract(endpoint={"host": "localhost"}))
    assert error.kind is ConnectTrouble.ADDRESS_NOT_ALLOWED
