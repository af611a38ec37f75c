"""What can go wrong with the servers, each said in one sentence."""

from __future__ import annotations

import errno


class DevstackError(Exception):
    """The servers cannot run; the message is one sentence that says what to do."""


class Interrupted(Exception):  # noqa: N818 - a request to stop, not an error
    """A signal asked for the end; raised only where a wait looked for one."""


_SENTENCES = {
    errno.EACCES: "no permission to write {path}; choose another directory or change its owner.",
    errno.EPERM: "no permission to change {path}; choose another directory or change its owner.",
    errno.EROFS: "{path} is on a read-only file system; choose another directory.",
    errno.ENOSPC: "no space is left on the disk that holds {path}; free some and start again.",
    errno.EDQUOT: "the disk quota of this account is used up at {path}; free some space and start again.",
    errno.ENOTDIR: "{path} is not a directory, or a part of its path is not; choose another directory.",
    errno.EEXIST: "{path} exists and is not a directory; choose another directory.",
    errno.ENAMETOOLONG: "the path {path} is too long; choose a shorter directory.",
}


def explain(error: OSError) -> str:
    """Say what the operating system refused, as one sentence."""
    path = str(error.filename) if error.filename else "the directory"
    template = _SENTENCES.get(error.errno or 0)
    sentence = template.format(path=path) if template else f"{error.strerror or error} ({path})."
    return sentence[0].upper() + sentence[1:]
