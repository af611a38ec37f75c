"""Signing in to OpenSSH: every type of key, a passphrase, certificates, and nothing from the home directory."""

import getpass
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exports.destinations.protocol import ConnectTrouble
from exports.secrets import Secret
from tests.destinations.keyring import new_key, pem_text, private_text, public_line
from tests.destinations.openssh import sshd
from tests.destinations.partners import deliver_to, make_export
from tests.destinations.refusals import fresh, refused


@pytest.mark.parametrize("algorithm", ["ssh-ed25519", "ecdsa-sha2-nistp384", "ssh-rsa"])
def test_every_type_of_host_key_that_may_be_pinned_works(open_path: Path, tmp_path: Path, algorithm: str) -> None:
    with sshd(fresh(open_path), host_key=algorithm) as server:
        done = deliver_to(server.partner, make_export(tmp_path))
    assert done.verdict.row == "accepted, listed"


@pytest.mark.parametrize("algorithm", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"])
@pytest.mark.parametrize("form", [private_text, pem_text])
def test_every_type_and_form_of_our_own_key_works(open_path: Path, algorithm: str, form: Callable[[Any], str]) -> None:
    key = new_key(algorithm)
    with sshd(fresh(open_path)) as server:
        (server.directory / "authorized_keys").write_text(public_line(key) + "\n")
        session = server.partner.open(secret=Secret(private_key=form(key)))
        assert session.healthy()
        session.close()


def test_a_key_with_a_passphrase_works(open_path: Path) -> None:
    key = new_key()
    with sshd(fresh(open_path)) as server:
        (server.directory / "authorized_keys").write_text(public_line(key) + "\n")
        secret = Secret(private_key=private_text(key, "open sesame"), passphrase="open sesame")
        session = server.partner.open(secret=secret)
        assert session.healthy()
        session.close()


def certified(directory: Path, valid: str) -> Secret:
    """Sign a fresh user key with a fresh authority, whose public key goes to `directory`/ca.pub."""
    authority, user = new_key(), new_key()
    (directory / "ca").touch(mode=0o600)
    (directory / "ca").write_text(private_text(authority))
    (directory / "ca.pub").write_text(public_line(authority) + "\n")
    (directory / "user.pub").write_text(public_line(user) + "\n")
    command = ["ssh-keygen", "-q", "-s", "ca", "-I", "test", "-n", getpass.getuser(), "-V", valid, "user.pub"]
    subprocess.run(command, cwd=directory, check=True, timeout=20)
    return Secret(private_key=private_text(user), certificate=(directory / "user-cert.pub").read_text().strip())


def test_a_certificate_signs_in_and_an_expired_one_says_that_it_may_have_expired(open_path: Path) -> None:
    directory = fresh(open_path)
    directory.mkdir()
    good = certified(directory, "-1d:+1d")
    with sshd(directory / "server", f"TrustedUserCAKeys {directory}/ca.pub") as server:
        (server.directory / "authorized_keys").write_text("")
        contract = server.partner.contract(auth={"method": "certificate"})
        session = server.partner.open(contract, good)
        assert session.healthy()
        session.close()
        expired = resigned(directory, good)
        error = refused(server.partner, contract, expired)
    assert error.kind is ConnectTrouble.AUTH_REFUSED
    assert "expired" in error.words


def resigned(directory: Path, secret: Secret) -> Secret:
    """Sign the same key again for a time that is over."""
    command = ["ssh-keygen", "-q", "-s", "ca", "-I", "test", "-n", getpass.getuser(), "-V", "-2d:-1d", "user.pub"]
    subprocess.run(command, cwd=directory, check=True, timeout=20)
    return Secret(private_key=secret.private_key, certificate=(directory / "user-cert.pub").read_text().strip())


def test_a_certificate_of_another_key_is_said_before_connecting(open_path: Path) -> None:
    directory = fresh(open_path)
    directory.mkdir()
    good = certified(directory, "-1d:+1d")
    with sshd(directory / "server") as server:
        wrong = Secret(private_key=private_text(new_key("ssh-rsa")), certificate=good.certificate)
        error = refused(server.partner, server.partner.contract(auth={"method": "certificate"}), wrong)
    assert error.kind is ConnectTrouble.SECRET_UNUSABLE


def test_keys_of_the_home_directory_and_agents_are_never_offered(
    open_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text(private_text(new_key()))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    with sshd(fresh(open_path), "MaxAuthTries 1") as server:
        session = server.partner.open()
        assert session.healthy()
        session.close()
