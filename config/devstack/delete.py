"""`python -m config.devstack.delete DIR`: delete a stack's directory and what root's runs put elsewhere for it."""

from __future__ import annotations

import sys
from pathlib import Path

from config.devstack.errors import DevstackError, explain
from config.devstack.home import open_home


def main() -> None:
    """Delete the directory; one sentence and exit code 1 if it is in use or is no stack's."""
    directory = Path(sys.argv[1])
    if not (directory / "passwords.json").is_file():
        sys.exit(f"{directory} is not the directory of a devstack; nothing was deleted.")
    try:
        open_home(directory).remove()
    except DevstackError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(explain(error))


if __name__ == "__main__":
    main()
