"""The system calls on a shared directory, each on names relative to a descriptor. All of them raise OSError."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

from exports.contracts import Contract
from exports.evidence import Absent, Present


class NotAllowedError(OSError):
    """The directory lies where this process lets no share lie."""


@dataclass(frozen=True)
class Share:
    """Descriptors of the directory of final names and that of temporary ones (perhaps the same directory).

    Other directories of the contract's may lie under the same `roots`.
    """

    final: int
    temporary: int
    roots: tuple[Path, ...] = ()

    @classmethod
    def opened(cls, contract: Contract, roots: Sequence[Path]) -> Self:
        """Open both directories; NotAllowedError when one does not lie under an allowed root."""
        paths = contract.paths
        final = _opened(paths.directory, roots)
        try:
            return cls(final, _opened(paths.temporary_directory or paths.directory, roots), tuple(roots))
        except OSError:
            os.close(final)
            raise

    def close(self) -> None:
        """Close both descriptors."""
        os.close(self.temporary)
        os.close(self.final)

    def check(self) -> None:
        """Ask the directory something harmless."""
        os.fstat(self.final)
        os.stat(".", dir_fd=self.final)

    def size_of_final(self, name: str) -> Present | Absent:
        """Look at a final name, not following a link."""
        return _size_of(self.final, name)

    def sizes_in(self, directory: str, names: Sequence[str]) -> dict[str, Present | Absent]:
        """Look at several names in another directory (empty: the final one), not following links."""
        with self._within(directory) as beside:
            return {name: _size_of(beside, name) for name in names}

    def open_in(self, directory: str, name: str) -> BinaryIO:
        """Open a name for reading, not following a link."""
        with self._within(directory) as beside:
            return os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=beside), "rb")

    def head(self, directory: str, name: str, most_bytes: int) -> bytes:
        """Read the first bytes of a file."""
        with self.open_in(directory, name) as stream:
            return stream.read(most_bytes)

    def names(self) -> list[str]:
        """List the directory of final names."""
        return os.listdir(self.final)  # noqa: PTH208 - of a descriptor, which no path can stand for

    def temporary_names(self) -> list[str]:
        """List the directory of temporary names."""
        return os.listdir(self.temporary)  # noqa: PTH208 - of a descriptor, which no path can stand for

    @contextmanager
    def _within(self, directory: str) -> Iterator[int]:
        if not directory:
            yield self.final
            return
        beside = _opened(directory, self.roots)
        try:
            yield beside
        finally:
            os.close(beside)

    def link(self, temporary: str, final: str) -> None:
        """Give the file its second name, which must not exist yet, and make that durable.

        A network file system may repeat a request whose answer was lost and then report that the name exists.
        Whether both names are one file tells that apart from a name that was taken.
        """
        try:
            os.link(temporary, final, src_dir_fd=self.temporary, dst_dir_fd=self.final, follow_symlinks=False)
        except FileExistsError:
            if not self._is_one_file(temporary, final):
                raise
        os.fsync(self.final)

    def replace(self, temporary: str, final: str) -> None:
        """Rename over whatever stands under the final name, atomically, and make that durable."""
        os.replace(temporary, final, src_dir_fd=self.temporary, dst_dir_fd=self.final)
        os.fsync(self.final)

    def remove(self, temporary: str) -> None:
        """Remove a temporary name; none there is what was wanted."""
        try:
            os.unlink(temporary, dir_fd=self.temporary)
        except FileNotFoundError:
            return

    def _is_one_file(self, temporary: str, final: str) -> bool:
        here = os.stat(temporary, dir_fd=self.temporary, follow_symlinks=False)
        there = os.stat(final, dir_fd=self.final, follow_symlinks=False)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

    @staticmethod
    def created(directory: int, name: str) -> int:
        """Create a file that must not exist yet, readable by its owner and group; returns its descriptor."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return os.open(name, flags, 0o640, dir_fd=directory)

    @staticmethod
    def write(target: int, block: bytes) -> None:
        """Write all of a block."""
        view = memoryview(block)
        while view:
            view = view[os.write(target, view) :]


def _size_of(directory: int, name: str) -> Present | Absent:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return Absent()
    return Present(found.st_size, None, stat.S_ISREG(found.st_mode))


def _opened(directory: str, roots: Sequence[Path]) -> int:
    path = Path(directory).resolve(strict=True)
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        raise NotAllowedError(f"{directory} does not lie under a directory that shares are allowed in")
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
