#!/bin/bash
# Makes .venv with the versions of tools/requirements.txt: PyTorch as the reference of the tests, NVRTC,
# which compiles CUDA without a GPU, and the test runner.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "Python 3.11 or newer is needed; $(command -v python3) is $(python3 --version 2>&1)." >&2
  exit 4
fi
echo "Making .venv (PyTorch is a large download)"
python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check "$(grep '^torch==' tools/requirements.txt)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tools/requirements.txt
