"""A ProFTPD server with mod_sftp of this test's own, as one ordinary account from a file."""

import grp
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exports.secrets import Secret
from tests.destinations.keyring import new_key, pem_text, private_text, public_line
from tests.destinations.openssh import free_port, require, stop, wait_for_port
from tests.destinations.partners import Partner

PROGRAM = shutil.which("proftpd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
_UNPRIVILEGED = 65_534  # ProFTPD refuses to serve as root


@contextmanager
def proftpd(directory: Path, *lines: str, modules: tuple[str, ...] = ()) -> Iterator[Partner]:
    """Run a server with these further lines in its virtual host."""
    program = require(PROGRAM, "ProFTPD")
    host_key, user_key, port = new_key("ssh-rsa"), new_key(), free_port()
    uid = os.geteuid() or _UNPRIVILEGED
    root = directory / "upload"
    root.mkdir(parents=True)
    os.chown(root, uid, -1)
    _write(directory / "host_key", pem_text(host_key))
    _write(directory / "keys", _rfc4716(user_key))
    _write(directory / "passwd", f"partner:*:{uid}:{uid}::{root}:/bin/sh\n")
    _write(directory / "group", f"partner:*:{uid}:\n")
    for each in ("keys", "passwd", "group"):
        os.chown(directory / each, uid, -1)
    config = directory / "proftpd.conf"
    config.write_text("\n".join(_configuration(directory, port, uid, modules, lines)) + "\n")
    with (directory / "output").open("wb") as output:
        process = subprocess.Popen([program, "-n", "-c", config], stdout=output, stderr=output)
    groups = {
        "endpoint": {"host": "127.0.0.1", "port": port},
        "auth": {"user": "partner", "secret_id": "test", "method": "key"},
        "host_keys": [{"key": public_line(host_key)}],
        "paths": {"directory": str(root)},
        "limits": {"idle_timeout_seconds": 5, "connect_timeout_seconds": 20},
    }
    try:
        wait_for_port(port, process)
        yield Partner("proftpd", root, groups, Secret(private_key=private_text(user_key)), hashes=True)
    finally:
        stop(process)


def _configuration(directory: Path, port: int, uid: int, modules: tuple[str, ...], lines: tuple[str, ...]) -> list[str]:
    account = pwd.getpwuid(uid)
    return [
        "ModulePath /usr/lib/proftpd",
        "LoadModule mod_sftp.c",
        *(f"LoadModule {module}" for module in modules),
        "ServerType standalone",
        "Port 0",
        "UseIPv6 off",
        "DefaultAddress 127.0.0.1",
        "SocketBindTight on",
        "WtmpLog off",
        "UseReverseDNS off",
        f"User {account.pw_name}",
        f"Group {grp.getgrgid(account.pw_gid).gr_name}",
        f"PidFile {directory}/pid",
        f"ScoreboardFile {directory}/score",
        f"SystemLog {directory}/system.log",
        "<VirtualHost 127.0.0.1>",
        "AuthPAM off",
        "AuthOrder mod_auth_file.c",
        f"AuthUserFile {directory}/passwd",
        f"AuthGroupFile {directory}/group",
        "RequireValidShell off",
        f"Port {port}",
        "SFTPEngine on",
        f"SFTPLog {directory}/sftp.log",
        f"SFTPHostKey {directory}/host_key",
        "SFTPAuthMethods publickey",
        f"SFTPAuthorizedUserKeys file:{directory}/keys",
        "MaxLoginAttempts 6",
        *(lines or ("AllowOverwrite on",)),
        "</VirtualHost>",
    ]


def _rfc4716(key: object) -> str:
    text: str = key.export_public_key("rfc4716").decode()  # type: ignore[attr-defined]
    return text


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
