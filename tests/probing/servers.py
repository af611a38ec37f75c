"""Servers that a probe has to see through, beside those the conformance suite runs on."""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import asyncssh

from exports.destinations.protocol import Passed, Session, open_session
from exports.probing.trying import try_destination
from exports.secrets import Secret
from tests.destinations.faulty import PASSWORD, PasswordLogin
from tests.destinations.keyring import new_key, public_line
from tests.destinations.partners import Partner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exports.contracts import Contract
    from exports.probing import Report
    from tests.destinations.loops import LoopThread

SCRATCH = "scratch"

RACY_SECONDS = 0.2
"""How long the racy server dawdles between looking and acting: longer than two threads need to begin together."""


class Careless(asyncssh.SFTPServer):
    """Overwrites on a plain rename, and has no links: what several products do."""

    def __init__(self, chan: Any, root: Path) -> None:
        super().__init__(chan, chroot=os.fsencode(root))

    def rename(self, oldpath: bytes, newpath: bytes) -> Any:
        return super().posix_rename(oldpath, newpath)

    def link(self, oldpath: bytes, newpath: bytes) -> Any:
        del oldpath, newpath
        raise asyncssh.SFTPOpUnsupported("no links here")


class Liar(Careless):
    """Says yes to a link and does nothing."""

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        del oldpath, newpath


class Hopeless(Liar):
    """Also opens a file again that was to be created exclusively."""

    def open(self, path: bytes, pflags: int, attrs: Any) -> Any:
        return super().open(path, pflags & ~asyncssh.FXF_EXCL, attrs)


class Blind(Careless):
    """Lets nothing be read back."""

    def read(self, file_obj: object, offset: int, size: int) -> bytes:
        del file_obj, offset, size
        raise asyncssh.SFTPPermissionDenied("not here")


class Racy(Careless):
    """Looks first and acts then, for every form: right as long as nobody else is there."""

    async def rename(self, oldpath: bytes, newpath: bytes) -> Any:
        await self._free(newpath)
        return super().posix_rename(oldpath, newpath)

    async def link(self, oldpath: bytes, newpath: bytes) -> Any:
        await self._free(newpath)
        shutil.copyfile(self.map_path(oldpath), self.map_path(newpath))

    async def _free(self, path: bytes) -> None:
        if self._stands(path):
            raise asyncssh.SFTPFailure("File exists")
        await asyncio.sleep(RACY_SECONDS)

    def _stands(self, path: bytes) -> bool:
        return os.path.lexists(self.map_path(path))


@contextmanager
def served(loop: LoopThread, root: Path, files: type[Careless]) -> Iterator[Partner]:
    """Run a server with these manners, and a scratch folder beside an empty directory."""
    key = new_key()
    (root / "upload").mkdir(parents=True)
    (root / SCRATCH).mkdir()
    options = {"server_host_keys": [key], "sftp_factory": lambda chan: files(chan, root), "sftp_version": 3}

    async def start() -> Any:
        return await asyncssh.create_server(PasswordLogin, "127.0.0.1", 0, **options)

    async def stop() -> None:
        listener.close()
        await listener.wait_closed()

    listener = loop.run(start())
    groups = {
        "endpoint": {"host": "127.0.0.1", "port": listener.get_port()},
        "auth": {"user": "anybody", "secret_id": "test"},
        "host_keys": [{"key": public_line(key)}],
        "paths": {"directory": "/upload", "scratch_directory": f"/{SCRATCH}"},
        "limits": {"idle_timeout_seconds": 5, "connect_timeout_seconds": 20},
    }
    try:
        yield Partner(files.__name__.lower(), root / "upload", groups, Secret(password=PASSWORD))
    finally:
        loop.run(stop())


def probe(partner: Partner, **groups: Any) -> Report:
    """Try a partner as a worker does, under its contract with these groups merged in."""
    contract = partner.contract(**groups)

    def opened(terms: Contract, passed: Passed) -> Session:
        return open_session(terms, partner.secret, partner.surroundings, passed)

    return try_destination(str(uuid.uuid4()), contract, opened)


def with_scratch(partner: Partner) -> Partner:
    """Give a partner of the conformance suite a scratch folder of its own, below its directory."""
    folder = scratch_of(partner)
    if not folder.is_dir():
        folder.mkdir()
        owner = partner.root.stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
    directory = partner.groups["paths"]["directory"].rstrip("/")
    paths = {**partner.groups["paths"], "scratch_directory": f"{directory}/{SCRATCH}"}
    return Partner(
        partner.name,
        partner.root,
        {**partner.groups, "paths": paths},
        partner.secret,
        partner.surroundings,
        partner.overwrites,
        partner.hashes,
    )


def scratch_of(partner: Partner) -> Path:
    """Return where a partner's scratch folder lies on this machine."""
    beside = partner.root.parent / SCRATCH
    return beside if beside.is_dir() else partner.root / SCRATCH
