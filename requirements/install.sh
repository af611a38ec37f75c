#!/bin/sh
# Make .venv and install the named sets of pinned packages into it: install.sh base demo …
# Wheels only, every one checked against its hash; where they come from is pip's own configuration.
set -eu
cd "$(dirname "$0")/.."

fits() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null
}

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        if fits "$name"; then
            command -v "$name"
            return
        fi
    done
    echo "No Python 3.11 to 3.14 with its venv module was found on PATH; install one and run make again." >&2
    return 1
}

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    echo "making .venv with $("$python" --version) ($python)"
    rm -rf .venv
    "$python" -m venv .venv
fi

run_pip() {
    .venv/bin/python -m pip install --disable-pip-version-check --no-input --progress-bar off \
        --only-binary :all: --require-hashes "$@" 2>&1
    echo "pip ended with $?"
}

# A dot for each package; pip's complaints only if it failed.
show_progress() {
    awk '
        /^pip ended with / { code = $4; next }
        /^Collecting / { printf "."; fflush() }
        /^ERROR|^WARNING|rror: / { said = said substr($0, 1, 500) "\n" }
        END { print ""; if (code != 0) { printf "%s", said; exit 1 } }
    '
}

printf 'installing %s ' "$*"
for name in "$@"; do
    set -- "$@" -r "requirements/$name.txt"
    shift
done
run_pip "$@" | show_progress || {
    echo "The packages could not be installed; pip says why above." >&2
    exit 1
}
