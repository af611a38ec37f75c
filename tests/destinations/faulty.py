"""An SFTP server that fails in the way its user name asks for: `STEP:FAULT`, or no fault for any other name.

The server itself is a library's, with files on disk; only the chosen request of the chosen step goes wrong. So
what lies at the partner afterwards is what really lies there.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import asyncssh

from config.devstack.partner_files import JournaledFiles, Note
from exports.secrets import Secret
from tests.destinations.keyring import new_key, public_line
from tests.destinations.loops import LoopThread
from tests.destinations.partners import Partner
from tests.partner_watch import SEEN

PASSWORD = "correct horse"


class Step(StrEnum):
    """The requests of a delivery, in order."""

    LOOK = "look"
    OPEN = "open"
    WRITE = "write"
    FSYNC = "fsync"
    CLOSE = "close"
    VERIFY = "verify"
    PUBLISH = "publish"
    READ_BACK = "read_back"
    REMOVE = "remove"


class Fault(StrEnum):
    """What goes wrong at that request."""

    ERROR = "error"
    ERROR_AFTER = "error_after"
    DROP_BEFORE = "drop_before"
    DROP_AFTER = "drop_after"
    HANG = "hang"
    HANG_AFTER = "hang_after"
    UNSUPPORTED = "unsupported"
    SHORT = "short"
    VANISH = "vanish"
    TAKE = "take"


class PasswordLogin(asyncssh.SSHServer):
    """Lets any user in who knows the password."""

    def begin_auth(self, username: str) -> bool:
        del username
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        del username
        return password == PASSWORD


class FaultyFiles(JournaledFiles):
    """One connection's files; counts its looks at final names to tell the first from the last."""

    def __init__(self, chan: Any, root: Path, files: list[Any], note: Note) -> None:
        super().__init__(chan, root, note)
        self._files = files
        self._step, _, self._fault = chan.get_extra_info("username").partition(":")
        self._looks = 0
        self._writes = 0
        self._last: bytes = b""

    async def _do(self, step: Step, act: Callable[[], Any]) -> Any:
        """Do one request of one step, with this connection's fault before or after it where it is the one."""
        fault = self._fault if step == self._step else None
        if fault in self._BEFORE:
            await self._BEFORE[fault](self)
        try:
            result = act()
            return await result if asyncio.iscoroutine(result) else result
        finally:
            if fault in self._AFTER:
                await self._AFTER[fault](self)

    async def _fail(self) -> None:
        raise asyncssh.SFTPFailure("No space left on device")

    async def _deny_support(self) -> None:
        raise asyncssh.SFTPOpUnsupported("not here")

    async def _drop(self) -> None:
        self.connection.abort()
        await asyncio.sleep(3600)

    async def _hang(self) -> None:
        await asyncio.sleep(3600)

    async def _shorten(self) -> None:
        os.truncate(self._last, 10)

    async def _vanish(self) -> None:
        os.remove(self._last)  # noqa: PTH107 - a path of bytes, as the server has it

    _BEFORE: ClassVar[dict[Any, Callable[[Any], Any]]] = {
        Fault.ERROR: _fail,
        Fault.UNSUPPORTED: _deny_support,
        Fault.DROP_BEFORE: _drop,
        Fault.HANG: _hang,
    }
    _AFTER: ClassVar[dict[Any, Callable[[Any], Any]]] = {
        Fault.ERROR_AFTER: _fail,
        Fault.DROP_AFTER: _drop,
        Fault.HANG_AFTER: _hang,
        Fault.SHORT: _shorten,
        Fault.VANISH: _vanish,
    }

    async def lstat(self, path: bytes) -> Any:
        if path.endswith(b".part"):
            return await self._do(Step.VERIFY, lambda: super(FaultyFiles, self).lstat(path))
        self._looks += 1
        step = Step.LOOK if self._looks == 1 else Step.READ_BACK
        return await self._do(step, lambda: super(FaultyFiles, self).lstat(path))

    async def open(self, path: bytes, pflags: int, attrs: Any) -> Any:
        self._last = self.map_path(path)
        return await self._do(Step.OPEN, lambda: self._opened(path, pflags, attrs))

    def _opened(self, path: bytes, pflags: int, attrs: Any) -> Any:
        opened: Any = super().open(path, pflags, attrs)
        self._files.append(opened)
        return opened

    async def write(self, file_obj: object, offset: int, data: bytes) -> Any:
        self._writes += 1
        if self._writes != 2:  # the second of several: neither the first nor the last
            return super().write(file_obj, offset, data)
        return await self._do(Step.WRITE, lambda: super(FaultyFiles, self).write(file_obj, offset, data))

    async def fsync(self, file_obj: object) -> Any:
        return await self._do(Step.FSYNC, lambda: super(FaultyFiles, self).fsync(file_obj))

    async def close(self, file_obj: object) -> Any:
        # Closed in any case: a real server that reports an error has let go of the file too.
        super().close(file_obj)
        return await self._do(Step.CLOSE, lambda: None)

    async def link(self, oldpath: bytes, newpath: bytes) -> Any:
        return await self._published(newpath, lambda: super(FaultyFiles, self).link(oldpath, newpath))

    async def rename(self, oldpath: bytes, newpath: bytes) -> Any:
        return await self._published(newpath, lambda: super(FaultyFiles, self).rename(oldpath, newpath))

    async def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        return await self._published(newpath, lambda: super(FaultyFiles, self).posix_rename(oldpath, newpath))

    async def _published(self, newpath: bytes, act: Callable[[], Any]) -> Any:
        answer = await self._do(Step.PUBLISH, act)
        if self._fault == Fault.TAKE:  # the partner takes the file in the moment in which it appears
            os.remove(self.map_path(newpath))  # noqa: PTH107 - a path of bytes, as the server has it
        return answer

    async def remove(self, path: bytes) -> Any:
        return await self._do(Step.REMOVE, lambda: super(FaultyFiles, self).remove(path))


@contextmanager
def faulty_server(loop: LoopThread, root: Path, note: Note = SEEN.append) -> Iterator[Callable[..., Partner]]:
    """Run the server; yields what makes a partner of it, with a fault or without.

    What is done to its names is watched over the whole run, unless a test notes it for itself.
    """
    key = new_key()
    files: list[Any] = []
    listener = loop.run(
        _start(
            {
                "server_host_keys": [key],
                "sftp_factory": lambda chan: FaultyFiles(chan, root, files, note),
                "sftp_version": 3,
            }
        )
    )

    def partner(step: Step | None = None, fault: Fault | None = None) -> Partner:
        user = "nobody-fails" if step is None else f"{step}:{fault}"
        groups = {
            "endpoint": {"host": "127.0.0.1", "port": listener.get_port()},
            "auth": {"user": user, "secret_id": "test"},
            "host_keys": [{"key": public_line(key)}],
            "paths": {"directory": "/"},
            "limits": {"idle_timeout_seconds": 2, "connect_timeout_seconds": 20},
        }
        return Partner("asyncssh", root, groups, Secret(password=PASSWORD))

    try:
        yield partner
    finally:
        loop.run(_stop(listener))
        # A connection that a fault cuts leaves its files to nobody.
        for each in files:
            each.close()


async def _start(options: dict[str, Any]) -> Any:
    return await asyncssh.create_server(PasswordLogin, "127.0.0.1", 0, **options)


async def _stop(listener: Any) -> None:
    listener.close()
    await listener.wait_closed()
